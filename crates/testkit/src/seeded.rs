//! Reproducible pseudo-random numbers: the same for the same seed, on every machine and forever.
//!
//! For choosing test cases; never for anything that must be unpredictable.

/// The SplitMix64 sequence of a seed.
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Seeded {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which must be at least 1.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next_u64() % end
    }

    /// One of `choices`, which must not be empty.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let place = self.below(choices.len() as u64) as usize;
        &choices[place]
    }

    /// True `permille` times in a thousand.
    pub fn happens(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut seeded = Seeded::new(0);
        assert_eq!(seeded.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(seeded.next_u64(), 0x6e78_9e6a_a1b9_65f4);
    }
}
