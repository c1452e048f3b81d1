/// Numbers, enums or truth values where they lie, at whatever addresses.
#[derive(Clone, Copy)]
pub struct Numbers<'a, T> {
    bytes: &'a [u8],
    of: PhantomData<T>,
}

impl<'a, T: Value + Copy> Numbers<'a, T> {
    /// So many that begin there.
    pub fn new<W: Wire>(bytes: &'a [u8], at: usize, count: usize) -> Self {
        let at = at + if count == 0 { 0 } else { gap::<W>(at, size_of::<T>()) };
        Numbers { bytes: &bytes[at..at + count * size_of::<T>()], of: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / size_of::<T>()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The one at a place.
    pub fn get(&self, place: usize) -> Option<T> {
        self.bytes.chunks_exact(size_of::<T>()).nth(place).map(loaded)
    }

    /// Goes through them.
    pub fn iter(&self) -> NumbersIter<'a, T> {
        NumbersIter { chunks: self.bytes.chunks_exact(size_of::<T>()), of: PhantomData }
    }

    /// Copies all of them.
    ///
    /// # Panics
    /// When `out` is not of their length.
    pub fn copy_to(&self, out: &mut [T]) {
        assert_eq!(out.len(), self.len(), "copied to another length");
        let chunks = self.bytes.chunks_exact(size_of::<T>());
        out.iter_mut().zip(chunks).for_each(|(one, chunk)| one.read_block(chunk));
    }

    /// Their bytes, little-endian.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

fn loaded<T: Value>(bytes: &[u8]) -> T {
    let mut value = T::default();
    value.read_block(bytes);
    value
}

impl<'a, T: Value + Copy> IntoIterator for Numbers<'a, T> {
    type Item = T;
    type IntoIter = NumbersIter<'a, T>;

    fn into_iter(self) -> NumbersIter<'a, T> {
        self.iter()
    }
}

/// Goes through numbers.
#[derive(Clone)]
pub struct NumbersIter<'a, T> {
    chunks: core::slice::ChunksExact<'a, u8>,
    of: PhantomData<T>,
}

impl<T: Value> Iterator for NumbersIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.chunks.next().map(loaded)
    }

    fn nth(&mut self, place: usize) -> Option<T> {
        self.chunks.nth(place).map(loaded)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chunks.size_hint()
    }
}

impl<T: Value> ExactSizeIterator for NumbersIter<'_, T> {}

/// Texts, octets or records where they lie.
pub struct List<'a, W, T> {
    bytes: &'a [u8],
    at: usize,
    len: usize,
    of: PhantomData<fn() -> (W, T)>,
}

impl<W, T> Clone for List<'_, W, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, T> Copy for List<'_, W, T> {}

impl<'a, W: Wire, T: Shown<W>> List<'a, W, T> {
    /// So many that begin there.
    pub fn new(bytes: &'a [u8], at: usize, len: usize) -> Self {
        List { bytes, at, len, of: PhantomData }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The one at a place, found at once: what lies at no fixed distance from each other
    /// does not compile. `iter().nth(place)` always does.
    pub fn get(&self, place: usize) -> Option<T::Seen<'a>> {
        const { assert!(T::REPEATS, "these lie at no fixed distance; go through them") };
        self.iter().nth(place)
    }

    /// Goes through them.
    pub fn iter(&self) -> ListIter<'a, W, T> {
        let (first, stride) = match T::REPEATS {
            true => T::SPAN.steps::<W>(self.at),
            false => (0, 0),
        };
        let List { bytes, at, len, of } = *self;
        ListIter { bytes, at, next: at + first, stride, left: len, of }
    }
}

impl<'a, W: Wire, T: Shown<W>> IntoIterator for List<'a, W, T> {
    type Item = T::Seen<'a>;
    type IntoIter = ListIter<'a, W, T>;

    fn into_iter(self) -> ListIter<'a, W, T> {
        self.iter()
    }
}

/// Goes through a list.
pub struct ListIter<'a, W, T> {
    bytes: &'a [u8],
    at: usize,
    /// Where the next one begins and how far it is from there to each other, where that is
    /// the same for all.
    next: usize,
    stride: usize,
    left: usize,
    of: PhantomData<fn() -> (W, T)>,
}

impl<W, T> Clone for ListIter<'_, W, T> {
    fn clone(&self) -> Self {
        ListIter { ..*self }
    }
}

impl<'a, W: Wire, T: Shown<W>> Iterator for ListIter<'a, W, T> {
    type Item = T::Seen<'a>;

    fn next(&mut self) -> Option<T::Seen<'a>> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        if T::REPEATS {
            self.at = self.next;
            self.next += self.stride;
        } else if self.left != 0 {
            self.at = T::behind(self.bytes, at);
        }
        Some(T::show(self.bytes, at))
    }

    fn nth(&mut self, place: usize) -> Option<T::Seen<'a>> {
        if place >= self.left {
            self.left = 0;
            return None;
        }
        self.left -= place;
        if !T::REPEATS {
            self.at = (0..place).fold(self.at, |at, _| T::behind(self.bytes, at));
        } else if place != 0 {
            self.at = self.next + (place - 1) * self.stride;
            self.next = self.at + self.stride;
        }
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<W: Wire, T: Shown<W>> ExactSizeIterator for ListIter<'_, W, T> {}
