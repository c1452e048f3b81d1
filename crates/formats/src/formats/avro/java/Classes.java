import java.io.File;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParser;
import org.apache.avro.compiler.specific.SpecificCompiler;
import org.apache.avro.generic.GenericData.StringType;

/** Has Avro's compiler make classes of a definition: Classes DEFINITION FOLDER. */
final class Classes {
    private Classes() {}

    public static void main(String[] arguments) throws Exception {
        // Its parser wants a file in a folder.
        File definition = new File(arguments[0]).getAbsoluteFile();
        List<Schema> records = new SchemaParser().parse(definition).mainSchema().getTypes();
        SpecificCompiler compiler = new SpecificCompiler(records);
        compiler.setStringType(StringType.String);
        compiler.compileToDestination(definition, new File(arguments[1]));
    }
}
