//! Java's own serialization, as a bound that many use.

use anyhow::Result;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::TypeDef;

use crate::build::languages::java::{JAVA, NEEDS};
use crate::codec::{Codec, Emission, Linkage};
use crate::language::java::message::JavaMessage;
use crate::language::java::plain_objects;

inventory::submit! {
    Codec {
        name: "java-serialization",
        title: "java.io Java",
        format: "java-serialization",
        language: &JAVA,
        is_bound: false,
        linkage: Linkage::Standard,
        options: &[
            "the normalized form itself, whose classes are Serializable; only Java reads it. Never \
             read untrusted bytes with it: they can run code",
            "one stream for each message, which describes its classes each time, as messages that \
             are read one by one need; the output array is kept",
            "no partial reads: the whole message is read for one number",
        ],
        calls: &[
            "encode: out = new ObjectOutputStream(kept.reset()); out.writeObject(message); \
             out.flush()",
            "decode, project, fixed, element: new ObjectInputStream(new \
             ByteArrayInputStream(bytes)).readObject()",
        ],
        needs: NEEDS,
        check_type: plain_objects::check_type,
        idl: None,
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = JavaMessage::new(unit)?;
    let own = [("Main.java", include_str!("java_serialization/Main.java"))];
    let mut emission = plain_objects::emit(unit, &[], &own, &[])?;
    // What its user writes at his classes.
    for (id, def) in unit.schema.types.iter().enumerate() {
        let TypeDef::Record(_) = def else { continue };
        let path = form.class(id).replace('.', "/") + ".java";
        let begin = format!("public final class {} ", form.name(id));
        let serializable =
            format!("@SuppressWarnings(\"serial\")\n{begin}implements java.io.Serializable ");
        for file in emission.files.iter_mut().filter(|file| file.path == path) {
            *file = File::new(path.clone(), file.text.replacen(&begin, &serializable, 1));
        }
    }
    Ok(emission)
}
