//! IEEE 754 binary16.

/// A number of 16 bits: 11 bits of precision, at most 65504.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half(
    /// Its bits.
    pub u16,
);

impl Half {
    /// Rounds to nearest, ties to even; too large a value becomes infinite. A
    /// NaN stays one.
    pub fn from_f64(value: f64) -> Self {
        let bits = value.to_bits();
        let sign = (bits >> 48 & 0x8000) as u16;
        let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
        let fraction = bits & 0xf_ffff_ffff_ffff;
        if exponent == 1024 {
            let payload = if fraction == 0 { 0 } else { (fraction >> 42) as u16 | 0x200 };
            return Half(sign | 0x7c00 | payload);
        }
        if exponent < -25 {
            return Half(sign);
        }
        if exponent > 15 {
            return Half(sign | 0x7c00);
        }
        let fraction = fraction | 1 << 52;
        // Subnormal halves have fewer bits; what is shifted out decides the rounding.
        let shift = if exponent < -14 { 42 + (-14 - exponent) } else { 42 };
        let mut kept = fraction >> shift;
        let rest = fraction & ((1 << shift) - 1);
        let tie = 1u64 << (shift - 1);
        if rest > tie || (rest == tie && kept & 1 != 0) {
            kept += 1;
        }
        if exponent >= -14 {
            kept += ((exponent + 14) as u64) << 10;
        }
        Half(sign | kept.min(0x7c00) as u16)
    }

    /// The same number.
    pub fn to_f64(self) -> f64 {
        let sign = u64::from(self.0 & 0x8000) << 48;
        let exponent = u64::from(self.0 >> 10 & 0x1f);
        let fraction = u64::from(self.0 & 0x3ff);
        match exponent {
            0 => f64::from_bits(sign | (fraction as f64 * 2f64.powi(-24)).to_bits()),
            31 => f64::from_bits(sign | 0x7ff << 52 | fraction << 42),
            _ => f64::from_bits(sign | (exponent + 1008) << 52 | fraction << 42),
        }
    }
}
