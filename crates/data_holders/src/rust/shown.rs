/// Checks a message and shows it where it lies in its bytes: the verdict is that of
/// `deserialize`. Nothing is copied, and no memory taken.
///
/// # Errors
/// When the bytes are no message.
pub fn check<W: Wire, T: Shown<W>>(bytes: &[u8]) -> Result<T::Seen<'_>, Error> {
    const { assert!(!W::IS_BIG_ENDIAN, "there are views of little-endian wires alone") };
    let mut reader = Reader::<W>::behind_header(bytes)?;
    let seen = T::check(&mut reader, Limits::NONE)?;
    reader.end()?;
    Ok(seen)
}

/// What is shown where it lies. All but `check` is asked of bytes that were checked.
pub trait Shown<W: Wire>: Sized {
    /// As what it is shown.
    type Seen<'a>;
    /// As what a list or array of it is shown.
    type Many<'a>;
    /// What it takes, where that is the same whatever it holds.
    const SPAN: Span;
    /// Whether elements lie at one distance from each other. Those of one size do, but for what
    /// aligns the first: behind it all begin alike, as the number in them that is aligned
    /// most stands where it must.
    const REPEATS: bool = Self::SPAN.is_fixed;

    /// Checks it as a reader does, and in its order.
    ///
    /// # Errors
    /// When it is not what is there.
    fn check<'a>(reader: &mut Reader<'a, W>, limits: Limits) -> Result<Self::Seen<'a>, Error>;

    /// What begins there.
    fn show(bytes: &[u8], at: usize) -> Self::Seen<'_>;

    /// Several that begin there.
    fn show_all(bytes: &[u8], at: usize, count: usize) -> Self::Many<'_>;

    /// Where what begins there ends.
    fn behind(bytes: &[u8], at: usize) -> usize;

    /// Checks several.
    ///
    /// # Errors
    /// When they are not what is there.
    fn check_all(reader: &mut Reader<'_, W>, count: usize, limits: Limits) -> Result<(), Error> {
        if Self::SPAN.is_plain {
            // Nothing can be wrong with them but that they are not there.
            let Some(last) = count.checked_sub(1) else { return Ok(()) };
            let (first, stride) = Self::SPAN.steps::<W>(reader.at);
            let size = last.checked_mul(stride).and_then(|rest| rest.checked_add(first));
            return reader.take(size.unwrap_or(usize::MAX)).map(|_| ());
        }
        (0..count).try_for_each(|_| Self::check(reader, limits).map(|_| ()))
    }

    /// Where several that begin there end.
    fn behind_all(bytes: &[u8], at: usize, count: usize) -> usize {
        match count.checked_sub(1) {
            None => at,
            Some(last) if Self::REPEATS => {
                let (first, stride) = Self::SPAN.steps::<W>(at);
                at + first + last * stride
            }
            Some(_) => (0..count).fold(at, |at, _| Self::behind(bytes, at)),
        }
    }
}

/// How many bytes a value takes from a place on, with what aligns it.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// By what is left of the place when it is divided by eight.
    bytes: [usize; 8],
    /// Whether it takes them whatever it holds.
    is_fixed: bool,
    /// Whether nothing can be wrong with them but that they are not there.
    is_plain: bool,
}

impl Span {
    /// Of what takes no bytes.
    pub const NOTHING: Span = Span { bytes: [0; 8], is_fixed: true, is_plain: true };
    /// Of what takes more or fewer by what it holds.
    pub const OPEN: Span = Span { bytes: [0; 8], is_fixed: false, is_plain: false };

    /// Of a number of a size.
    pub const fn number<W: Wire>(size: usize) -> Span {
        let mut span = Span::NOTHING;
        let mut at = 0;
        while at < 8 {
            span.bytes[at] = gap::<W>(at, size) + size;
            at += 1;
        }
        span
    }

    /// Of a record without fields.
    pub const fn filler<W: Wire>() -> Span {
        Span { bytes: [W::HAS_FILLER as usize; 8], ..Span::NOTHING }
    }

    /// Of one behind the other.
    pub const fn then(self, next: Span) -> Span {
        let mut both = self;
        both.is_fixed = self.is_fixed && next.is_fixed;
        both.is_plain = self.is_plain && next.is_plain;
        let mut at = 0;
        while at < 8 {
            both.bytes[at] += next.bytes[(at + self.bytes[at]) % 8];
            at += 1;
        }
        both
    }

    /// Of so many, one behind the other.
    pub const fn times(self, mut count: usize) -> Span {
        let mut all = Span { is_fixed: self.is_fixed, is_plain: self.is_plain, ..Span::NOTHING };
        let mut power = self;
        while count != 0 {
            if count % 2 == 1 {
                all = all.then(power);
            }
            count /= 2;
            if count != 0 {
                power = power.then(power);
            }
        }
        all
    }

    /// The same, where not any bytes will do.
    const fn checked(self) -> Span {
        Span { is_plain: false, ..self }
    }

    /// What the first of several takes that begin there, and each behind it.
    fn steps<W: Wire>(&self, at: usize) -> (usize, usize) {
        let first = self.bytes[at % W::ALIGNMENT];
        (first, self.bytes[(at + first) % W::ALIGNMENT])
    }
}

/// Where a record lies: its begin, and the ends of fields that have not always the same
/// size.
#[derive(Clone, Copy)]
pub struct Place<'a, W, const MARKS: usize> {
    /// The message.
    pub bytes: &'a [u8],
    /// The begin, and those ends.
    pub marks: [usize; MARKS],
    wire: PhantomData<fn() -> W>,
}

impl<'a, W: Wire, const MARKS: usize> Place<'a, W, MARKS> {
    /// Of a record that begins there.
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Place { bytes, marks: [at; MARKS], wire: PhantomData }
    }

    /// Of one that a reader comes to.
    pub fn next(reader: &Reader<'a, W>) -> Self {
        Place::new(reader.bytes, reader.at)
    }

    /// Notes where a reader is.
    pub fn mark(&mut self, mark: usize, reader: &Reader<'a, W>) {
        self.marks[mark] = reader.at;
    }

    /// Copies it into a holder.
    pub fn fill<T: Value>(&self, holder: &mut T) {
        let mut reader = Reader::<W> { bytes: self.bytes, at: self.marks[0], wire: PhantomData };
        holder.read(&mut reader, Limits::NONE).expect("it was checked");
    }
}

/// The length that stands there, and what is behind it.
#[inline]
fn length<W: Wire>(bytes: &[u8], at: usize) -> (usize, usize) {
    let at = at + gap::<W>(at, 4);
    (number::<W, u32>(bytes, at) as usize, at + 4)
}

/// The number or enum that stands there.
#[inline]
pub fn number<W: Wire, T: Value>(bytes: &[u8], at: usize) -> T {
    let at = at + gap::<W>(at, size_of::<T>());
    let mut value = T::default();
    value.read_block(&bytes[at..at + size_of::<T>()]);
    value
}

/// Where the number or enum ends that stands there.
#[inline]
pub fn behind_number<W: Wire, T>(at: usize) -> usize {
    at + gap::<W>(at, size_of::<T>()) + size_of::<T>()
}

/// Checks the number or enum that comes next.
///
/// # Errors
/// When it is not there.
pub fn number_checked<W: Wire, T: Value>(reader: &mut Reader<'_, W>) -> Result<T, Error> {
    let mut value = T::default();
    value.read(reader, Limits::NONE)?;
    Ok(value)
}

/// How numbers are shown: each as itself.
macro_rules! shown_number {
    () => {
        type Seen<'a> = Self;

        fn check<'a>(reader: &mut Reader<'a, W>, _: Limits) -> Result<Self, Error> {
            number_checked(reader)
        }

        #[inline]
        fn show(bytes: &[u8], at: usize) -> Self {
            number::<W, Self>(bytes, at)
        }

        #[inline]
        fn behind(_: &[u8], at: usize) -> usize {
            behind_number::<W, Self>(at)
        }
    };
}

macro_rules! shown_numbers {
    ($($kind:ty)*) => {$(
        impl<W: Wire> Shown<W> for $kind {
            type Many<'a> = Numbers<'a, $kind>;
            const SPAN: Span = Span::number::<W>(size_of::<$kind>());
            shown_number!();

            fn show_all(bytes: &[u8], at: usize, count: usize) -> Numbers<'_, $kind> {
                Numbers::new::<W>(bytes, at, count)
            }
        }
    )*};
}

shown_numbers!(u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl<W: Wire> Shown<W> for bool {
    type Many<'a> = Numbers<'a, bool>;
    const SPAN: Span = Span::number::<W>(1).checked();
    shown_number!();

    fn show_all(bytes: &[u8], at: usize, count: usize) -> Numbers<'_, bool> {
        Numbers::new::<W>(bytes, at, count)
    }
}

impl<W: Wire> Shown<W> for u8 {
    type Many<'a> = &'a [u8];
    const SPAN: Span = Span::number::<W>(1);
    shown_number!();

    fn show_all(bytes: &[u8], at: usize, count: usize) -> &[u8] {
        &bytes[at..at + count]
    }
}

impl<W: Wire> Shown<W> for String {
    type Seen<'a> = &'a str;
    type Many<'a> = List<'a, W, String>;
    const SPAN: Span = Span::OPEN;

    fn check<'a>(reader: &mut Reader<'a, W>, limits: Limits) -> Result<&'a str, Error> {
        reader.text(limits)
    }

    fn show(bytes: &[u8], at: usize) -> &str {
        let (length, at) = length::<W>(bytes, at);
        let text = &bytes[at..at + length - usize::from(W::ENDS_TEXTS && length != 0)];
        core::str::from_utf8(text).expect("it was checked")
    }

    fn show_all(bytes: &[u8], at: usize, count: usize) -> List<'_, W, String> {
        List::new(bytes, at, count)
    }

    fn behind(bytes: &[u8], at: usize) -> usize {
        let (length, at) = length::<W>(bytes, at);
        at + length
    }
}

impl<W: Wire, T: Shown<W> + Value> Shown<W> for Vec<T> {
    type Seen<'a> = T::Many<'a>;
    type Many<'a> = List<'a, W, Vec<T>>;
    const SPAN: Span = Span::OPEN;

    fn check<'a>(reader: &mut Reader<'a, W>, limits: Limits) -> Result<T::Many<'a>, Error> {
        let end = reader.open::<T>()?;
        let count = reader.length(T::least::<W>(), limits.elements)?;
        let at = reader.at;
        T::check_all(reader, count, limits.of_elements())?;
        reader.close::<T>(end)?;
        Ok(T::show_all(reader.bytes, at, count))
    }

    fn show(bytes: &[u8], at: usize) -> T::Many<'_> {
        let at = at + if is_delimited::<W, T>() { gap::<W>(at, 4) + 4 } else { 0 };
        let (count, at) = length::<W>(bytes, at);
        T::show_all(bytes, at, count)
    }

    fn show_all(bytes: &[u8], at: usize, count: usize) -> List<'_, W, Vec<T>> {
        List::new(bytes, at, count)
    }

    fn behind(bytes: &[u8], at: usize) -> usize {
        let (length, at) = length::<W>(bytes, at);
        match is_delimited::<W, T>() {
            true => at + length,
            false => T::behind_all(bytes, at, length),
        }
    }
}

impl<W: Wire, T: Shown<W> + Value, const N: usize> Shown<W> for [T; N] {
    type Seen<'a> = T::Many<'a>;
    type Many<'a> = List<'a, W, [T; N]>;
    const SPAN: Span = match W::DELIMITS && !T::IS_PRIMITIVE {
        true => Span::number::<W>(4).then(T::SPAN.times(N)).checked(),
        false => T::SPAN.times(N),
    };

    fn check<'a>(reader: &mut Reader<'a, W>, limits: Limits) -> Result<T::Many<'a>, Error> {
        let end = reader.open::<T>()?;
        let at = reader.at;
        T::check_all(reader, N, limits)?;
        reader.close::<T>(end)?;
        Ok(T::show_all(reader.bytes, at, N))
    }

    fn show(bytes: &[u8], at: usize) -> T::Many<'_> {
        let at = at + if is_delimited::<W, T>() { gap::<W>(at, 4) + 4 } else { 0 };
        T::show_all(bytes, at, N)
    }

    fn show_all(bytes: &[u8], at: usize, count: usize) -> List<'_, W, [T; N]> {
        List::new(bytes, at, count)
    }

    fn behind(bytes: &[u8], at: usize) -> usize {
        match is_delimited::<W, T>() {
            true => {
                let (length, at) = length::<W>(bytes, at);
                at + length
            }
            false => T::behind_all(bytes, at, N),
        }
    }
}

impl<W: Wire, T: Shown<W> + Value> Shown<W> for Option<T> {
    type Seen<'a> = Option<T::Seen<'a>>;
    type Many<'a> = List<'a, W, Option<T>>;
    const SPAN: Span = match W::DELIMITS || T::IS_RECORD {
        true => Span::OPEN,
        false => Span::number::<W>(1).then(T::SPAN).checked(),
    };

    fn check<'a>(reader: &mut Reader<'a, W>, limits: Limits) -> Result<Self::Seen<'a>, Error> {
        let is_there = match is_list::<W, T>() {
            true => reader.length(T::least::<W>(), 1)? == 1,
            false => <bool as Shown<W>>::check(reader, limits)?,
        };
        let value = match is_there || !(T::IS_RECORD || W::DELIMITS) {
            true => Some(T::check(reader, limits)?),
            false => None,
        };
        Ok(value.filter(|_| is_there))
    }

    fn show(bytes: &[u8], at: usize) -> Self::Seen<'_> {
        let (is_there, at) = match is_list::<W, T>() {
            true => length::<W>(bytes, at),
            false => (usize::from(bytes[at]), at + 1),
        };
        (is_there != 0).then(|| T::show(bytes, at))
    }

    fn show_all(bytes: &[u8], at: usize, count: usize) -> List<'_, W, Option<T>> {
        List::new(bytes, at, count)
    }

    fn behind(bytes: &[u8], at: usize) -> usize {
        let (is_there, at) = match is_list::<W, T>() {
            true => length::<W>(bytes, at),
            false => (usize::from(bytes[at]), at + 1),
        };
        match is_there != 0 || !(T::IS_RECORD || W::DELIMITS) {
            true => T::behind(bytes, at),
            false => at,
        }
    }
}
