//! Tests of the remote stores on real servers: Redis, a Redis cluster, S3.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod copy;
mod faults;
mod redis;
mod s3;
mod shared;
mod twins;
