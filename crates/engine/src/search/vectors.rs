//! Quantised vectors, and the dot product of a query with all of them.
//!
//! A linear scan without tree or graph: twenty thousand vectors take a fraction of a millisecond, the result is
//! exact up to rounding, and adding or removing one is free. Each vector has one byte per dimension and one
//! scale. With AVX2, bytes are multiplied without widening, which takes a third of the time; elsewhere the loop
//! is plain arithmetic in a form that compilers vectorise.
//!
//! Invariant: all vectors have the length of the first one set; a slot without a vector scores zero.

use super::bm25::Slot;

/// Dimensions processed together; vectors are padded with zeros to a multiple.
const BLOCK: usize = 32;
/// Maximum stored value: two products of 127 × 127 stay below 2¹⁵.
const VALUE_MAX: f32 = 63.0;
/// Added to a stored value so that it is not negative.
const BIAS: i32 = 64;
/// Maximum value of a query.
const QUERY_MAX: f32 = 127.0;
/// Spare capacity: one part in this many.
const GROWTH_SHARE: usize = 16;
/// Longer vectors count as absent: 65,536 × 127 × 127 stays below 2³¹.
const DIMENSIONS_MAX: usize = 65_536;

/// A stored vector: one byte per dimension, and a scale. Without bytes it is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Packed {
    /// The value of one step.
    pub scale: f32,
    pub bytes: Vec<u8>,
}

impl Packed {
    /// Packs a vector. An empty, zero or non-finite one is absent.
    pub fn of(vector: &[f32]) -> Self {
        let Some(largest) = largest(vector) else { return Self::default() };
        let scale = largest / VALUE_MAX;
        let byte = |value: &f32| ((value / scale).round() as i32 + BIAS) as u8;
        Self { scale, bytes: vector.iter().map(byte).collect() }
    }
}

#[derive(Debug, Default)]
pub struct Vectors {
    dimensions: usize,
    bytes: Vec<u8>,
    scales: Vec<f32>,
}

impl Vectors {
    /// Stores the vector of a slot. One that is empty or of another length counts as absent.
    pub fn set(&mut self, slot: Slot, vector: &[f32]) {
        self.set_packed(slot, &Packed::of(vector));
    }

    pub fn set_packed(&mut self, slot: Slot, vector: &Packed) {
        let slot = slot as usize;
        if self.dimensions == 0 {
            self.dimensions = vector.bytes.len();
        }
        if self.scales.len() <= slot {
            self.scales.resize(slot + 1, 0.0);
        }
        let bytes = self.bytes_each();
        let needed = self.scales.len() * bytes;
        if self.bytes.capacity() < needed {
            // Vectors are most of an index; doubling the capacity would waste most of its memory.
            self.bytes.reserve_exact(needed / GROWTH_SHARE + needed - self.bytes.len());
        }
        self.bytes.resize(needed, BIAS as u8);
        if vector.bytes.len() != self.dimensions || vector.bytes.is_empty() {
            self.scales[slot] = 0.0;
            return;
        }
        self.scales[slot] = vector.scale;
        self.bytes[slot * bytes..][..self.dimensions].copy_from_slice(&vector.bytes);
    }

    pub fn remove(&mut self, slot: Slot) {
        if let Some(scale) = self.scales.get_mut(slot as usize) {
            *scale = 0.0;
        }
    }

    pub fn has(&self, slot: Slot) -> bool {
        self.scales.get(slot as usize).is_some_and(|scale| *scale != 0.0)
    }

    /// The dot product of `query` with every slot. Empty if the query's length differs from ours.
    pub fn scan(&self, query: &[f32]) -> Vec<f32> {
        let Some(query) = self.query(query) else { return Vec::new() };
        let mut products = vec![0.0; self.scales.len()];
        if !products.is_empty() {
            dot_each(&self.bytes, &query.values, &mut products);
        }
        let bias = query.bias as f32;
        for (product, scale) in products.iter_mut().zip(&self.scales) {
            *product = (*product - bias) * query.scale * scale;
        }
        products
    }

    /// The dot products of a stored vector with others; zero with one that is absent.
    pub fn products<const N: usize>(&self, slot: Slot, others: [Option<Slot>; N]) -> [f32; N] {
        let Some((own, scale)) = self.kept(slot) else { return [0.0; N] };
        let own: Vec<i8> = own.iter().map(|byte| (i32::from(*byte) - BIAS) as i8).collect();
        let bias = BIAS * own.iter().map(|value| i32::from(*value)).sum::<i32>();
        others.map(|other| {
            let Some((other, other_scale)) = other.and_then(|other| self.kept(other)) else {
                return 0.0;
            };
            let mut product = [0.0];
            dot_each(other, &own, &mut product);
            (product[0] - bias as f32) * scale * other_scale
        })
    }

    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + self.scales.capacity() * size_of::<f32>()
    }

    fn bytes_each(&self) -> usize {
        self.dimensions.next_multiple_of(BLOCK)
    }

    /// The padded bytes of a vector, and its scale.
    fn kept(&self, slot: Slot) -> Option<(&[u8], f32)> {
        let scale = self.scales.get(slot as usize).copied().filter(|scale| *scale != 0.0)?;
        let each = self.bytes_each();
        Some((&self.bytes[slot as usize * each..][..each], scale))
    }

    fn query(&self, vector: &[f32]) -> Option<Query> {
        let fits = vector.len() == self.dimensions;
        let scale = largest(vector).filter(|_| fits)? / QUERY_MAX;
        let mut values: Vec<i8> =
            vector.iter().map(|value| (value / scale).round() as i8).collect();
        values.resize(self.bytes_each(), 0);
        let bias = BIAS * values.iter().map(|value| i32::from(*value)).sum::<i32>();
        Some(Query { values, scale, bias })
    }
}

/// The largest absolute value of a vector that can be stored or queried.
fn largest(vector: &[f32]) -> Option<f32> {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let can_be_kept =
        vector.len() <= DIMENSIONS_MAX && vector.iter().all(|value| value.is_finite());
    (can_be_kept && largest > 0.0).then_some(largest)
}

/// A query as integers, with the product of the bias.
struct Query {
    values: Vec<i8>,
    scale: f32,
    bias: i32,
}

/// The dot products of a query with consecutive vectors, by the fastest available method.
fn dot_each(vectors: &[u8], query: &[i8], products: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = pulp::x86::V3::try_new() {
        return machine.vectorize(avx2::DotEach { machine, vectors, query, products });
    }
    dot_each_plainly(vectors, query, products);
}

/// Widens some bytes first and multiplies them then; in this form the compiler uses the instruction that
/// multiplies and adds pairs. Plain indices, because iterators are not always inlined without link-time
/// optimisation.
fn dot_each_plainly(vectors: &[u8], query: &[i8], products: &mut [f32]) {
    let query: Vec<i16> = query.iter().map(|value| i16::from(*value)).collect();
    let blocks = query.as_chunks::<BLOCK>().0;
    for (product, vector) in products.iter_mut().zip(vectors.chunks_exact(query.len())) {
        let mut sum = 0;
        for (bytes, query) in vector.as_chunks::<BLOCK>().0.iter().zip(blocks) {
            let mut wide = [0_i16; BLOCK];
            let mut at = 0;
            while at < BLOCK {
                wide[at] = bytes[at] as i16;
                at += 1;
            }
            let mut part = 0;
            at = 0;
            while at < BLOCK {
                part += wide[at] as i32 * query[at] as i32;
                at += 1;
            }
            sum += part;
        }
        *product = sum as f32;
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use pulp::NullaryFnOnce;
    use pulp::x86::V3;

    use super::BLOCK;

    /// The work of [`super::dot_each`], run only if AVX2 is available.
    pub(super) struct DotEach<'a> {
        pub machine: V3,
        pub vectors: &'a [u8],
        pub query: &'a [i8],
        pub products: &'a mut [f32],
    }

    impl NullaryFnOnce for DotEach<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let (avx, avx2) = (self.machine.avx, self.machine.avx2);
            let ones = avx._mm256_set1_epi16(1);
            let blocks = self.query.as_chunks::<BLOCK>().0;
            let vectors = self.vectors.chunks_exact(self.query.len());
            for (product, vector) in self.products.iter_mut().zip(vectors) {
                let mut sums = avx._mm256_setzero_si256();
                for (bytes, query) in vector.as_chunks::<BLOCK>().0.iter().zip(blocks) {
                    let pairs = avx2._mm256_maddubs_epi16(pulp::cast(*bytes), pulp::cast(*query));
                    sums = avx2._mm256_add_epi32(sums, avx2._mm256_madd_epi16(pairs, ones));
                }
                let sums: [i32; 8] = pulp::cast(sums);
                *product = sums.iter().sum::<i32>() as f32;
            }
        }
    }
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
            let rounding = 0.03 / (dimensions as f32).sqrt();
            let mut vectors = Vectors::default();
            let kept: Vec<_> = (0..20).map(|seed| unit(seed, dimensions)).collect();
            for (slot, vector) in kept.iter().enumerate() {
                vectors.set(slot as Slot, vector);
            }
            let query = unit(99, dimensions);
            for (found, vector) in vectors.scan(&query).iter().zip(&kept) {
                let exact: f32 = vector.iter().zip(&query).map(|(left, right)| left * right).sum();
                assert!((found - exact).abs() < rounding, "{dimensions}: {found} for {exact}");
            }
            let exact: f32 = kept[3].iter().zip(&kept[7]).map(|(left, right)| left * right).sum();
            let [found, absent] = vectors.products(3, [Some(7), Some(99)]);
            assert!((found - exact).abs() < 2.0 * rounding, "{dimensions}: {found} for {exact}");
            assert_eq!(absent, 0.0);
        }
    }

    #[test]
    fn the_plain_way_and_the_fast_one_agree() {
        let mut vectors = Vectors::default();
        for slot in 0..20 {
            vectors.set(slot, &unit(slot, 300));
        }
        let query = vectors.query(&unit(99, 300)).unwrap();
        let (mut plain, mut fast) = (vec![0.0; 20], vec![0.0; 20]);
        dot_each_plainly(&vectors.bytes, &query.values, &mut plain);
        dot_each(&vectors.bytes, &query.values, &mut fast);
        assert_eq!(plain, fast);
        assert!(plain.iter().all(|product| *product != 0.0));
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let mut vectors = Vectors::default();
        let (ones, dimensions) = (vec![1.0; DIMENSIONS_MAX], DIMENSIONS_MAX as f32);
        vectors.set(0, &ones);
        vectors.set(1, &vec![-1.0; DIMENSIONS_MAX]);
        let found = vectors.scan(&ones);
        for (found, exact) in found.iter().zip([dimensions, -dimensions]) {
            assert!((found - exact).abs() < 0.1, "{found} for {exact}");
        }
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
