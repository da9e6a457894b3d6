//! The stores of many machines, on real servers: Redis, a Redis cluster, S3.

mod redis;
mod s3;
