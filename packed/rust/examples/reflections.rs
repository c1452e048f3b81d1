//! Writes three reflections of an OSI SensorView as columns, and reads them in place.

use wiregauge_packed::{first, Column, Error, Kind, Message, Root};

fn main() -> Result<(), Error> {
    let columns = [Column::f64("signal_strength"), Column::f64("time_of_flight")];
    let mut message = Message::new(Root::SensorView, &[]);
    message.add(Kind::LidarReflections, &columns, 3, &[])?;
    let mut buffer = vec![0; message.plan()?];
    let mut tables = message.write(&mut buffer)?;
    let mut columns = tables[0].columns();
    columns[0].sink::<f64>().expect("doubles").fill([-3.0, -6.0, -9.0]); // dB
    columns[1].sink::<f64>().expect("doubles").fill([1e-7, 2e-7, 3e-7]); // s

    let view = first(Root::SensorView, &buffer, Kind::LidarReflections)?.expect("they are there");
    let strength = view.column::<f64>("signal_strength").expect("it is there");
    println!("{} rows, the second has {} dB", view.rows(), strength.get(1));
    Ok(())
}
