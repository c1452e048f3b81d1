// What must hold for any bytes; the fuzz targets and the tests of the corpus
// share it.

use wiregauge_packed::{
    find, pack, unpack, Column, Element, Fault, Half, Layout, Number, PackOptions, Plan,
    PointField, Points, Reduced, Reduction, Root, UnpackOptions, Values, View,
};

/// Any bytes as a field: refused, or all of it can be read.
pub fn open(data: &[u8]) {
    let Ok(view) = View::open(data) else { return };
    for values in view.columns() {
        assert!(view.values(values.name).is_some());
        read(&view, values);
    }
    points(&view, data);
}

/// A field as points of its own columns: refused, or the same points again.
fn points(view: &View<'_>, data: &[u8]) {
    let mut step = 0;
    let mut fields = Vec::new();
    for (column, element) in view.columns().iter().filter_map(|of| Some((of, of.element?))) {
        fields.push(PointField { name: column.name.into(), offset: step, element });
        step += element.size();
    }
    let Ok(points) = Points::new(fields, step, data.len().is_multiple_of(2)) else { return };
    let Ok(all) = points.unpack(data, 1 << 22) else { return };
    let (packed, _) = points.pack(&all, &Plan::default()).expect("points of its own");
    assert_eq!(points.unpack(&packed, all.len()).expect("what was packed"), all);
}

fn read(view: &View<'_>, values: &Values<'_>) {
    // Columns without elements may claim any number of rows; of a reduced one each
    // value restores a block.
    let rows = view.rows().min(if values.is_reduced() { 1 << 4 } else { 1 << 12 });
    for row in (0..rows).chain(view.rows().checked_sub(1)) {
        std::hint::black_box((values.present(row), values.value(row)));
    }
    let mut typed = 0;
    macro_rules! types {
        ($($type:ty),*) => {$(
            if values.element == Some(<$type>::ELEMENT) {
                let mut all = vec![<$type>::from_bits(0); view.rows()];
                assert!(values.read(0, &mut all));
                let part = view.rows() / 3..view.rows() / 2;
                let mut some = vec![<$type>::from_bits(0); part.len()];
                assert!(values.read(part.start, &mut some));
                assert!(some.iter().zip(&all[part]).all(|(a, b)| a.bits() == b.bits()));
            }
            if let Some(column) = view.raw_column::<$type>(values.name) {
                assert!(!values.is_reduced());
                assert_eq!(column.rows(), view.rows());
                typed += 1;
                std::hint::black_box(column.iter().last());
            }
        )*};
    }
    types!(f64, f32, Half, u64, u32, u16, u8, i64, i32, i16, i8);
    assert!(typed <= 1);
}

/// Any bytes as a message, the first byte choosing which: refused, or what is
/// packed comes back, and packs to the same again.
pub fn convert(data: &[u8]) {
    let Some((first, message)) = data.split_first() else { return };
    let root = if first & 1 == 0 { Root::SensorView } else { Root::SensorData };
    let options = UnpackOptions { limit: 1 << 20, ..UnpackOptions::default() };
    let found = find(root, message);
    for field in found.iter().flatten().filter_map(|found| found.field) {
        open(field);
    }
    if let Ok((packed, _)) = pack(root, message, &PackOptions::default()) {
        let found = found.expect("what is packed can be searched");
        // Fields that were packed before need not be such that OSI can hold them.
        if found.iter().all(|found| found.field.is_none()) {
            let rows: Vec<usize> = found.iter().map(|found| found.rows).collect();
            round(root, &packed, &rows);
        }
    }
    if let Ok(plain) = unpack(root, message, &options) {
        let found = find(root, &plain).expect("what was unpacked can be searched");
        assert!(found.iter().all(|found| found.field.is_none()));
        if let Ok((packed, _)) = pack(root, &plain, &PackOptions::default()) {
            let rows: Vec<usize> = found.iter().map(|found| found.rows).collect();
            round(root, &packed, &rows);
        }
    }
}

/// What has been packed is all there, comes back and packs to the same.
fn round(root: Root, packed: &[u8], rows: &[usize]) {
    let found = find(root, packed).expect("what was packed can be searched");
    assert_eq!(found.len(), rows.len());
    for (found, &rows) in found.iter().zip(rows) {
        assert_eq!(found.rows, 0);
        assert_eq!(found.field.map(|field| View::open(field).unwrap().rows()).unwrap_or(0), rows);
    }
    let options = UnpackOptions { limit: 1 << 24, ..UnpackOptions::default() };
    let plain = match unpack(root, packed, &options) {
        Err(error) if error.fault == Fault::Limit => return,
        plain => plain.expect("what was packed can be unpacked"),
    };
    let (again, _) = pack(root, &plain, &PackOptions::default()).expect("and packed again");
    assert!(again == packed, "packed again it is another message");
}

/// Any bytes as elements, after an element type, flags and a resolution: refused, or
/// what is reduced comes back.
pub fn reduce(data: &[u8]) {
    let Some((head, elements)) = data.split_at_checked(10) else { return };
    match head[0] % 11 {
        0 => reduce_as::<f64>(head, elements),
        1 => reduce_as::<f32>(head, elements),
        2 => reduce_as::<Half>(head, elements),
        3 => reduce_as::<u64>(head, elements),
        4 => reduce_as::<u32>(head, elements),
        5 => reduce_as::<u16>(head, elements),
        6 => reduce_as::<u8>(head, elements),
        7 => reduce_as::<i64>(head, elements),
        8 => reduce_as::<i32>(head, elements),
        9 => reduce_as::<i16>(head, elements),
        _ => reduce_as::<i8>(head, elements),
    }
}

fn reduce_as<T: Number>(head: &[u8], elements: &[u8]) {
    let resolution = f64::load(&head[2..10]);
    let how = Reduction {
        resolution: (head[1] & 1 != 0).then_some(resolution),
        whole_bytes: head[1] & 2 != 0,
    };
    let values: Vec<T> = elements.chunks_exact(T::SIZE).map(T::load).collect();
    // Any bits will do: there are more of them than rows.
    let presence = (head[1] & 4 != 0).then(|| &elements[..values.len().div_ceil(8)]);
    let has = |row: usize| presence.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 != 0);
    let reduced = match Reduced::new("a", &values, presence, &how) {
        Err(error) => {
            assert!(matches!(error.fault, Fault::Resolution | Fault::Steps));
            assert!(how.resolution.is_some());
            return;
        }
        Ok(reduced) => reduced,
    };
    let column = Column::reduced("a", &reduced);
    let layout = Layout::plan(&[column], values.len() as u64, 0, 8).expect("a field of one column");
    let mut field = vec![0; layout.size()];
    let mut table = layout.write(&mut field).expect("of its size");
    table.columns()[0].put(&reduced).expect("of its size");
    let view = View::open(&field).expect("what was reduced can be read");
    let mut back = vec![T::from_bits(0); values.len()];
    assert!(view.columns()[0].read(0, &mut back));
    let mut largest = 0.0;
    for (row, (value, back)) in values.iter().zip(back).enumerate().filter(|(row, _)| has(*row)) {
        let is_float = matches!(T::ELEMENT, Element::F64 | Element::F32);
        if how.resolution.is_some() && is_float && value.to_f64().is_finite() {
            let error = (back.to_f64() - value.to_f64()).abs();
            assert!(error <= resolution / 2.0, "row {row} is off by {error}");
            largest = f64::max(largest, error);
        } else {
            assert_eq!(value.bits(), back.bits(), "row {row}");
        }
    }
    assert_eq!(reduced.error(), largest);
}
