// What must hold for any bytes; the fuzz targets and the tests of the corpus
// share it.

use wiregauge_packed::{
    find, pack, unpack, Fault, Half, PackOptions, Root, UnpackOptions, Values, View,
};

/// Any bytes as a field: refused, or all of it can be read.
pub fn open(data: &[u8]) {
    let Ok(view) = View::open(data) else { return };
    for values in view.columns() {
        assert!(view.values(values.name).is_some());
        read(&view, values);
    }
}

fn read(view: &View<'_>, values: &Values<'_>) {
    // Columns without elements may claim any number of rows.
    let rows = view.rows().min(1 << 12);
    for row in (0..rows).chain(view.rows().checked_sub(1)) {
        std::hint::black_box((values.present(row), values.value(row)));
    }
    let mut typed = 0;
    macro_rules! types {
        ($($type:ty),*) => {$(
            if let Some(column) = view.raw_column::<$type>(values.name) {
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
