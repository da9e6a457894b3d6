//! What a model costs, where its price is configured.

use throughline_engine::model::Usage;

const MILLION: f64 = 1e6;

/// Prices of a million tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    pub input: f64,
    /// Input read from the provider's cache.
    pub cached: f64,
    pub output: f64,
    pub currency: String,
}

/// What tokens cost, and what they would have cost more without the provider's cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    pub amount: f64,
    pub saved: f64,
}

impl Price {
    pub fn of(&self, usage: &Usage) -> Cost {
        let millions = |tokens: u64| tokens_as_f64(tokens) / MILLION;
        let cached = millions(usage.cache_read_tokens.min(usage.input_tokens));
        let plain = millions(usage.input_tokens) - cached;
        let output = millions(usage.output_tokens) * self.output;
        Cost {
            amount: plain * self.input + cached * self.cached + output,
            saved: cached * (self.input - self.cached),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no turn has 2^53 tokens")]
fn tokens_as_f64(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_less_and_the_difference_is_what_was_saved() {
        let price = Price { input: 3.0, cached: 0.3, output: 15.0, currency: "USD".into() };
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_read_tokens: 900_000,
            cache_write_tokens: 0,
        };
        let Cost { amount, saved } = price.of(&usage);
        assert!((amount - 2.07).abs() < 1e-9 && (saved - 2.43).abs() < 1e-9, "{amount} {saved}");
    }
}
