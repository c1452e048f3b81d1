//! A runner for a private format: the LiDAR message by columns, all x, all y, all z and all
//! intensities.
//!
//!     cargo build --release --example columns
//!     wiregauge codecs --runner columns=target/release/examples/columns

use wiregauge_runner::{serve, Direct, Error, Hello, Message, Tally};

/// The message as a plain structure: what an application has.
#[derive(Default)]
struct Scan {
    head: [u64; 3],
    columns: [Vec<f32>; 3],
    intensities: Vec<u8>,
}

/// Three u64 and the number of points as u32.
const HEAD: usize = 28;
/// Three f32 and one u8.
const POINT: usize = 13;

/// Takes what a head holds: the three numbers, and how many points follow.
fn read_head(bytes: &[u8]) -> Result<([u64; 3], usize), Error> {
    let head = bytes.get(..HEAD).ok_or_else(|| Error::new("there is no whole head"))?;
    let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let count = u32::from_le_bytes(head[24..].try_into().expect("four bytes")) as usize;
    if Some(bytes.len() - HEAD) != count.checked_mul(POINT) {
        return Err(Error::new(format!("{count} points do not fit {} bytes", bytes.len())));
    }
    Ok(([number(0), number(8), number(16)], count))
}

fn write_head(scan: &Scan, out: &mut Vec<u8>) {
    scan.head.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    out.extend_from_slice(&(scan.intensities.len() as u32).to_le_bytes());
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().expect("four bytes")))
}

/// How the gauge hands messages over: point after point. This is not timed.
impl Message for Scan {
    fn from_canonical(bytes: &[u8]) -> Result<Scan, Error> {
        let mut scan = Scan { head: read_head(bytes)?.0, ..Scan::default() };
        for point in bytes[HEAD..].chunks_exact(POINT) {
            let columns = scan.columns.iter_mut();
            columns.zip(floats(&point[..12])).for_each(|(column, value)| column.push(value));
            scan.intensities.push(point[12]);
        }
        Ok(scan)
    }
    fn to_canonical(&self, out: &mut Vec<u8>) {
        write_head(self, out);
        for (row, intensity) in self.intensities.iter().enumerate() {
            self.columns
                .iter()
                .for_each(|column| out.extend_from_slice(&column[row].to_le_bytes()));
            out.push(*intensity);
        }
    }
}

#[derive(Default)]
struct Columns;

/// The codec: what is timed.
impl Direct for Columns {
    type Message = Scan;

    fn hello(&self) -> Hello {
        Hello { library: "columns 1", phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, scan: &Scan, out: &mut Vec<u8>) -> Result<(), Error> {
        write_head(scan, out);
        for value in scan.columns.iter().flatten() {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&scan.intensities);
        Ok(())
    }
    fn decode(&mut self, wire: &[u8], scan: &mut Scan) -> Result<(), Error> {
        let (head, count) = read_head(wire)?;
        scan.head = head;
        for (axis, column) in scan.columns.iter_mut().enumerate() {
            column.clear();
            column.extend(floats(&wire[HEAD + 4 * count * axis..][..4 * count]));
        }
        scan.intensities.clear();
        scan.intensities.extend_from_slice(&wire[HEAD + 12 * count..]);
        Ok(())
    }
    /// Every number, each with the place of its field in its record.
    fn project<T: Tally>(&mut self, wire: &[u8], _: &mut Scan, tally: &mut T) -> Result<(), Error> {
        let (numbers, count) = read_head(wire)?;
        let mut head = T::default();
        (0..).zip(numbers).for_each(|(field, number)| head.number(field, number));
        tally.record(0, head);
        let axis = |at: usize| floats(&wire[HEAD + 4 * count * at..][..4 * count]);
        let intensities = &wire[HEAD + 12 * count..];
        for (((x, y), z), intensity) in axis(0).zip(axis(1)).zip(axis(2)).zip(intensities) {
            let mut point = T::default();
            [x, y, z].into_iter().for_each(|value| point.number(0, value));
            point.number(1, *intensity);
            tally.record(1, point);
        }
        Ok(())
    }
    /// The third number of the head.
    fn fixed<T: Tally>(&mut self, wire: &[u8], _: &mut Scan, tally: &mut T) -> Result<(), Error> {
        tally.number(0, read_head(wire)?.0[2]);
        Ok(())
    }
    /// The second coordinate of the middle point, where there are points.
    fn element<T: Tally>(&mut self, wire: &[u8], _: &mut Scan, tally: &mut T) -> Result<(), Error> {
        let count = read_head(wire)?.1;
        if count > 0 {
            let at = HEAD + 4 * (count + count / 2);
            floats(&wire[at..at + 4]).for_each(|value| tally.number(0, value));
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    serve(Columns)
}
