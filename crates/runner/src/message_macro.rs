//! The macro by which a message of a plain codec is declared.

/// Declares records as plain structures, the message last; fields in the order of the
/// definition. A field is a number, `bool`, `String`, [`Octets`](crate::Octets), another
/// record, or a `Vec`, an array or an `Option` of these; an enum is its integer.
///
/// ```
/// wiregauge_runner::message! {
///     struct Point { position: [f32; 3], intensity: u8 }
///     struct Scan { stamp: u64, points: Vec<Point> }
/// }
/// # fn main() {
/// use wiregauge_runner::Message;
/// let scan = Scan { stamp: 7, points: vec![Point { position: [1.0, 2.0, 3.0], intensity: 4 }] };
/// let mut bytes = Vec::new();
/// scan.to_canonical(&mut bytes);
/// assert_eq!(bytes.len(), 8 + 4 + 13);
/// assert_eq!(Scan::from_canonical(&bytes).unwrap().points[0].position[1], 2.0);
/// # }
/// ```
#[macro_export]
macro_rules! message {
    ($($(#[$doc:meta])* struct $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        #[doc = stringify!($name)]
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $(
            #[doc = stringify!($field)]
            pub $field: $type,
        )* }

        impl $crate::Value for $name {
            fn read(&mut self, bytes: &mut &[u8]) -> Result<(), $crate::Error> {
                $($crate::Value::read(&mut self.$field, bytes)?;)*
                Ok(())
            }
            fn write(&self, out: &mut Vec<u8>) {
                $($crate::Value::write(&self.$field, out);)*
            }
            fn tally<T: $crate::Tally>(&self, place: u32, tally: &mut T) {
                let mut inner = T::default();
                $crate::Record::tally_fields(self, &mut inner);
                tally.record(place, inner);
            }
            fn pick<T: $crate::Tally>(
                &self,
                _: $crate::Index,
                rest: &[$crate::Step],
                tally: &mut T,
            ) {
                let Some((step, rest)) = rest.split_first() else { return };
                let mut place = 0..;
                $(if place.next() == Some(step.field) {
                    $crate::Value::pick(&self.$field, step.index, rest, tally);
                })*
            }
        }

        impl $crate::Record for $name {
            fn tally_fields<T: $crate::Tally>(&self, tally: &mut T) {
                let mut place = 0u32..;
                $($crate::Value::tally(&self.$field, place.next().unwrap_or(0), tally);)*
            }
        }

        impl $crate::Message for $name {
            fn from_canonical(mut bytes: &[u8]) -> Result<Self, $crate::Error> {
                let mut message = Self::default();
                $crate::Value::read(&mut message, &mut bytes)?;
                match bytes {
                    [] => Ok(message),
                    _ => Err($crate::Error::new("bytes are left over behind the message")),
                }
            }
            fn to_canonical(&self, out: &mut Vec<u8>) {
                $crate::Value::write(self, out);
            }
        }
    )*};
}
