//! Many vectors as bytes, and the dot product of one query with all of them.
//!
//! A scan over every vector, no tree and no graph: ten thousand take a fraction of a millisecond, it is
//! exact up to rounding, and adding or removing one costs nothing. Each vector is kept as one byte a
//! dimension and one scale. The inner loop is plain arithmetic on fixed-size blocks so that the compiler
//! turns it into vector instructions of whatever machine it builds for.
//!
//! Invariant: all vectors have the length of the first one set; a slot without a vector scores zero.

use super::bm25::Slot;

/// Dimensions multiplied before the sum leaves 32 bits: 256 × 255 × 8,191 stays below 2³¹.
const BLOCK: usize = 256;
/// Dimensions that are widened together.
const LANES: usize = 32;
/// The largest value of a query dimension, as an integer.
const QUERY_MAX: f32 = 8_191.0;
/// What is added to a signed byte to keep it as an unsigned one, which widens in one instruction.
const BIAS: i32 = 128;

/// Vectors by slot.
#[derive(Debug, Default)]
pub struct Vectors {
    dimensions: usize,
    bytes: Vec<u8>,
    scales: Vec<f32>,
}

impl Vectors {
    /// Keeps the vector of a slot. One that is empty or of another length is kept as absent.
    pub fn set(&mut self, slot: Slot, vector: &[f32]) {
        let slot = slot as usize;
        if self.dimensions == 0 {
            self.dimensions = vector.len();
        }
        if self.scales.len() <= slot {
            self.scales.resize(slot + 1, 0.0);
        }
        self.bytes.resize(self.scales.len() * self.dimensions, BIAS as u8);
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if vector.len() != self.dimensions || largest == 0.0 || !largest.is_finite() {
            self.scales[slot] = 0.0;
            return;
        }
        let scale = largest / 127.0;
        self.scales[slot] = scale;
        let place = &mut self.bytes[slot * self.dimensions..][..self.dimensions];
        for (byte, value) in place.iter_mut().zip(vector) {
            *byte = ((value / scale).round() as i32 + BIAS) as u8;
        }
    }

    /// Forgets the vector of a slot.
    pub fn remove(&mut self, slot: Slot) {
        if let Some(scale) = self.scales.get_mut(slot as usize) {
            *scale = 0.0;
        }
    }

    /// Whether a slot has a vector.
    pub fn has(&self, slot: Slot) -> bool {
        self.scales.get(slot as usize).is_some_and(|scale| *scale != 0.0)
    }

    /// The dot product of `query` with every slot. Empty when the query has no vector of our length.
    pub fn scan(&self, query: &[f32]) -> Vec<f32> {
        let Some(query) = self.query(query) else { return Vec::new() };
        let mut products = vec![0.0; self.scales.len()];
        for (slot, product) in products.iter_mut().enumerate() {
            let bytes = &self.bytes[slot * self.dimensions..][..self.dimensions];
            *product = query.dot(bytes) * self.scales[slot];
        }
        products
    }

    /// The dot product of two kept vectors.
    pub fn between(&self, left: Slot, right: Slot) -> f32 {
        let (Some(left), Some(right)) = (self.values(left), self.values(right)) else { return 0.0 };
        left.zip(right).map(|(left, right)| left * right).sum()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + self.scales.capacity() * size_of::<f32>()
    }

    fn values(&self, slot: Slot) -> Option<impl Iterator<Item = f32>> {
        let scale = self.scales.get(slot as usize).copied().filter(|scale| *scale != 0.0)?;
        let bytes = &self.bytes[slot as usize * self.dimensions..][..self.dimensions];
        Some(bytes.iter().map(move |byte| (i32::from(*byte) - BIAS) as f32 * scale))
    }

    fn query(&self, vector: &[f32]) -> Option<Query> {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if vector.len() != self.dimensions || largest == 0.0 || !largest.is_finite() {
            return None;
        }
        let scale = largest / QUERY_MAX;
        let values: Vec<i16> = vector.iter().map(|value| (value / scale).round() as i16).collect();
        let bias = values.iter().map(|value| i64::from(*value) * i64::from(BIAS)).sum();
        Some(Query { values, scale, bias })
    }
}

/// A query as integers, with what the bias of the bytes adds to every product.
struct Query {
    values: Vec<i16>,
    scale: f32,
    bias: i64,
}

impl Query {
    fn dot(&self, bytes: &[u8]) -> f32 {
        let mut sum = 0_i64;
        let mut start = 0;
        while let (Some(bytes), Some(query)) =
            (bytes[start..].first_chunk(), self.values[start..].first_chunk())
        {
            sum += i64::from(block_dot(bytes, query));
            start += BLOCK;
        }
        while start < bytes.len() {
            sum += i64::from(bytes[start]) * i64::from(self.values[start]);
            start += 1;
        }
        (sum - self.bias) as f32 * self.scale
    }
}

/// Some bytes at a time are widened first and multiplied then; in this shape the compiler uses the
/// instruction that multiplies and adds pairs. Plain indices, because iterators are not always inlined in
/// builds without link-time optimisation, and this loop is most of a search's time.
fn block_dot(bytes: &[u8; BLOCK], query: &[i16; BLOCK]) -> i32 {
    let mut sum = 0;
    let mut wide = [0_i16; LANES];
    let mut start = 0;
    while start < BLOCK {
        let mut lane = 0;
        while lane < LANES {
            wide[lane] = bytes[start + lane] as i16;
            lane += 1;
        }
        let mut part = 0;
        lane = 0;
        while lane < LANES {
            part += wide[lane] as i32 * query[start + lane] as i32;
            lane += 1;
        }
        sum += part;
        start += LANES;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(seed: u32, dimensions: usize) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
        let values: Vec<f32> = (0..dimensions)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32 - 0.5
            })
            .collect();
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        values.iter().map(|value| value / length).collect()
    }

    #[test]
    fn a_dot_product_of_bytes_is_close_to_that_of_the_floats() {
        for dimensions in [3, 256, 300, 768, 3_072] {
            let mut vectors = Vectors::default();
            let kept: Vec<_> = (0..20).map(|seed| unit(seed, dimensions)).collect();
            for (slot, vector) in kept.iter().enumerate() {
                vectors.set(slot as Slot, vector);
            }
            let query = unit(99, dimensions);
            for (found, vector) in vectors.scan(&query).iter().zip(&kept) {
                let exact: f32 = vector.iter().zip(&query).map(|(left, right)| left * right).sum();
                assert!((found - exact).abs() < 0.01, "{dimensions}: {found} for {exact}");
            }
            let exact: f32 = kept[3].iter().zip(&kept[7]).map(|(left, right)| left * right).sum();
            assert!((vectors.between(3, 7) - exact).abs() < 0.01);
        }
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let mut vectors = Vectors::default();
        vectors.set(0, &[1.0; 4_096]);
        vectors.set(1, &[-1.0; 4_096]);
        assert_eq!(vectors.scan(&[1.0; 4_096]), [4_096.0, -4_096.0]);
    }

    #[test]
    fn a_slot_without_a_fitting_vector_scores_zero() {
        let mut vectors = Vectors::default();
        vectors.set(1, &[1.0, 0.0]);
        vectors.set(2, &[1.0, 0.0, 0.0]);
        vectors.set(3, &[]);
        vectors.set(4, &[f32::NAN, 1.0]);
        vectors.set(5, &[0.6, 0.8]);
        vectors.remove(5);
        let close = |found: Vec<f32>| found.iter().map(|v| v.round()).collect::<Vec<_>>();
        assert_eq!(close(vectors.scan(&[1.0, 0.0])), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(vectors.scan(&[1.0]), [0.0_f32; 0]);
    }
}
