//! The stores of many machines, on real servers: Redis, a Redis cluster, S3.

mod copy;
mod faults;
mod redis;
mod s3;
mod twins;
