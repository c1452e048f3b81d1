//! PCD, version 0.7, of the Point Cloud Library: lines of text that tell the fields, then the
//! points as text, as bytes, or field by field in LZF.

use anyhow::{bail, ensure, Context, Result};

use crate::column::{each, unit, Column, Type, Values};
use crate::file::lzf;

/// A field, as the header has it.
struct Field {
    name: String,
    kind: Type,
    count: usize,
}

/// What the lines before the points tell.
struct Header<'b> {
    fields: Vec<Field>,
    points: usize,
    form: String,
    body: &'b [u8],
}

/// The columns of a file.
pub fn columns(bytes: &[u8]) -> Result<Vec<Column>> {
    let header = Header::parse(bytes)?;
    let mut columns = header.columns()?;
    match header.form.as_str() {
        "ascii" => header.text(&mut columns)?,
        "binary" => header.rows(&mut columns)?,
        "binary_compressed" => header.fields(&mut columns)?,
        other => bail!("DATA {other} is unknown; it must be ascii, binary or binary_compressed"),
    }
    let mut columns: Vec<Column> = columns.into_iter().flatten().collect();
    // Fields of this name fill gaps.
    columns.retain(|column| column.name != "_");
    ensure!(!columns.is_empty(), "it has no field except padding");
    for (at, column) in columns.iter().enumerate() {
        let twice = columns[..at].iter().any(|known| known.name == column.name);
        ensure!(!twice, "two fields have the name {}", column.name);
    }
    Ok(columns)
}

impl<'b> Header<'b> {
    fn parse(bytes: &'b [u8]) -> Result<Header<'b>> {
        let mut rest = bytes;
        let [mut names, mut sizes, mut kinds, mut counts] = <[Vec<&str>; 4]>::default();
        let mut points = None;
        let (mut width, mut height) = (None, None);
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let end =
                end.context("the line DATA is missing: it is not a PCD file, or it is truncated")?;
            let line = std::str::from_utf8(&rest[..end]).ok().filter(|line| line.len() < 1 << 16);
            let line = line.context("its first lines are not text: it is not a PCD file")?;
            rest = &rest[end + 1..];
            let mut words = line.split_whitespace();
            let Some(word) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let list = words.collect::<Vec<&str>>();
            let number = || -> Result<usize> {
                let first = list.first().and_then(|word| word.parse().ok());
                first.with_context(|| format!("no number follows {word}"))
            };
            match word {
                "VERSION" | "VIEWPOINT" => {}
                "FIELDS" | "COLUMNS" => names = list,
                "SIZE" => sizes = list,
                "TYPE" => kinds = list,
                "COUNT" => counts = list,
                "WIDTH" => width = Some(number()?),
                "HEIGHT" => height = Some(number()?),
                "POINTS" => points = Some(number()?),
                "DATA" => {
                    let form = (*list.first().context("the line DATA is empty")?).to_owned();
                    let grid = width.zip(height);
                    let points = points.or(grid.and_then(|(w, h)| w.checked_mul(h)));
                    let points = points.context("it has neither POINTS nor WIDTH and HEIGHT")?;
                    if let Some((width, height)) = grid {
                        ensure!(
                            width.checked_mul(height) == Some(points),
                            "POINTS is {points}, but WIDTH is {width} and HEIGHT {height}"
                        );
                    }
                    let fields = fields(&names, &sizes, &kinds, &counts)?;
                    return Ok(Header { fields, points, form, body: rest });
                }
                other => bail!("PCD has no line '{}'", other.escape_debug()),
            }
        }
    }

    /// Bytes of a point.
    fn step(&self) -> usize {
        self.fields.iter().map(|field| field.count * field.kind.size()).sum()
    }

    /// Bytes of all points, which must be there.
    fn size(&self, there: usize) -> Result<usize> {
        let size = self.points.checked_mul(self.step()).filter(|size| *size <= there);
        size.with_context(|| {
            format!(
                "{} points of {} bytes are declared, but the file has {there} bytes",
                self.points,
                self.step()
            )
        })
    }

    /// Empty columns, field by field.
    fn columns(&self) -> Result<Vec<Vec<Column>>> {
        ensure!(self.step() > 0, "a point has 0 bytes");
        let column = |field: &Field, at| Column {
            name: match field.count {
                1 => field.name.clone(),
                _ if field.name == "_" => field.name.clone(),
                _ => format!("{}_{at}", field.name),
            },
            unit: unit(&field.name),
            values: field.kind.empty_values(),
            present: None,
        };
        let of = |field: &Field| (0..field.count).map(|at| column(field, at)).collect();
        Ok(self.fields.iter().map(of).collect())
    }

    fn text(&self, columns: &mut [Vec<Column>]) -> Result<()> {
        let text = std::str::from_utf8(self.body).context("the points in ascii are not text")?;
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let named = columns.iter().flatten().filter(|column| column.name != "_").count();
        for point in 0..self.points {
            let line = lines.next();
            let line = line.with_context(|| {
                format!("{} points are declared, but there are {point} lines", self.points)
            })?;
            // PCL leaves the fields that fill gaps out of text.
            let is_short = line.split_whitespace().count() == named;
            let is_there = |column: &&mut Column| !is_short || column.name != "_";
            let mut words = line.split_whitespace();
            for column in columns.iter_mut().flatten().filter(is_there) {
                let word = words.next().and_then(|word| push(&mut column.values, word));
                word.with_context(|| format!("point {point} has no {}", column.name))?;
            }
            ensure!(words.next().is_none(), "point {point} has more numbers than fields");
        }
        ensure!(
            lines.next().is_none(),
            "there are more lines than the declared {} points",
            self.points
        );
        Ok(())
    }

    fn rows(&self, columns: &mut [Vec<Column>]) -> Result<()> {
        let size = self.size(self.body.len())?;
        let mut offset = 0;
        for column in columns.iter_mut().flatten() {
            let width = column.values.kind().size();
            let points = self.body[..size].chunks_exact(self.step());
            let elements = points.map(|point| &point[offset..offset + width]);
            each!(&mut column.values, list => read(list, elements));
            offset += width;
        }
        Ok(())
    }

    fn fields(&self, columns: &mut [Vec<Column>]) -> Result<()> {
        let Some((sizes, body)) = self.body.split_at_checked(8) else { bail!("cut short") };
        let size = |at: usize| {
            let bytes = [sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]];
            u32::from_le_bytes(bytes) as usize
        };
        let (compressed, plain) = (size(0), size(4));
        ensure!(
            compressed <= body.len(),
            "{compressed} compressed bytes are declared, but the file has {}",
            body.len()
        );
        ensure!(
            self.points.checked_mul(self.step()) == Some(plain),
            "{} points of {} bytes are declared, but {plain} plain bytes",
            self.points,
            self.step()
        );
        let plain = lzf::decompress(&body[..compressed], plain)?;
        let mut rest = &plain[..];
        for (columns, field) in columns.iter_mut().zip(&self.fields) {
            let width = field.kind.size();
            let (own, behind) = rest.split_at(self.points * field.count * width);
            rest = behind;
            for (at, column) in columns.iter_mut().enumerate() {
                let points = own.chunks_exact(field.count * width);
                let elements = points.map(|point| &point[at * width..(at + 1) * width]);
                each!(&mut column.values, list => read(list, elements));
            }
        }
        Ok(())
    }
}

fn fields(names: &[&str], sizes: &[&str], kinds: &[&str], counts: &[&str]) -> Result<Vec<Field>> {
    let is_whole = names.len() == sizes.len() && names.len() == kinds.len();
    ensure!(
        is_whole && !names.is_empty(),
        "FIELDS, SIZE and TYPE declare different numbers of fields"
    );
    ensure!(
        counts.is_empty() || counts.len() == names.len(),
        "FIELDS and COUNT declare different numbers of fields"
    );
    let mut fields = Vec::new();
    let mut all = 0usize;
    for (at, name) in names.iter().enumerate() {
        let count = counts.get(at).map_or(Some(1), |count| count.parse().ok());
        let count = count.filter(|count| (1..=1 << 16).contains(count));
        let mut count =
            count.with_context(|| format!("field {name} has {} numbers", counts[at]))?;
        let mut known = field_type(kinds[at], sizes[at]);
        // What fills a gap may be of any type: its bytes are passed over.
        if let (None, "_", Ok(size @ 1..=64)) = (known, *name, sizes[at].parse::<usize>()) {
            (known, count) = (Some(Type::U8), count * size);
        }
        let kind = known.with_context(|| {
            format!(
                "field {name} has the type {}{}, which wiregauge cannot read",
                kinds[at], sizes[at]
            )
        })?;
        all += count;
        ensure!(all <= 1 << 16, "a point has more than {} numbers", 1 << 16);
        fields.push(Field { name: (*name).to_owned(), kind, count });
    }
    Ok(fields)
}

fn field_type(kind: &str, size: &str) -> Option<Type> {
    Some(match (kind, size) {
        ("I", "1") => Type::I8,
        ("U", "1") => Type::U8,
        ("I", "2") => Type::I16,
        ("U", "2") => Type::U16,
        ("I", "4") => Type::I32,
        ("U", "4") => Type::U32,
        ("U", "8") => Type::U64,
        ("F", "4") => Type::F32,
        ("F", "8") => Type::F64,
        _ => return None,
    })
}

fn push(values: &mut Values, word: &str) -> Option<()> {
    each!(values, list => list.push(word.parse().ok()?));
    Some(())
}

/// A number in little-endian bytes.
trait Number: Sized {
    fn from_le(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($kind:ty)*) => {
        $(impl Number for $kind {
            fn from_le(bytes: &[u8]) -> $kind {
                <$kind>::from_le_bytes(bytes.try_into().expect("an element's bytes"))
            }
        })*
    };
}

numbers! { i8 u8 i16 u16 i32 u32 u64 f32 f64 }

fn read<'e, T: Number>(list: &mut Vec<T>, elements: impl Iterator<Item = &'e [u8]>) {
    list.extend(elements.map(T::from_le));
}
