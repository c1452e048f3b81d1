import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles many programs in one process, since a compiler that is warm takes a tenth of the time:
 * Compile LIST, where each line of the list is a folder for classes, a path of classes and the
 * sources, with tabs between. Says of each {@code ok}, or what is wrong.
 */
final class Compile {
    private Compile() {}

    public static void main(String[] arguments) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            List<String> words = List.of(line.split("\t"));
            List<String> sources = words.subList(2, words.size());
            System.out.println(compile(compiler, words.get(0), words.get(1), sources));
        }
    }

    private static String compile(
            JavaCompiler compiler, String classes, String path, List<String> sources)
            throws IOException {
        Files.createDirectories(Path.of(classes));
        List<String> options =
                List.of("--release", "17", "-nowarn", "-proc:none", "-d", classes, "-cp", path);
        DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(said, null, StandardCharsets.UTF_8)) {
            Iterable<? extends JavaFileObject> units = files.getJavaFileObjectsFromStrings(sources);
            if (compiler.getTask(null, files, said, options, null, units).call()) {
                return "ok";
            }
        }
        for (Diagnostic<? extends JavaFileObject> one : said.getDiagnostics()) {
            if (one.getKind() == Diagnostic.Kind.ERROR) {
                return one.toString().replace('\n', ' ');
            }
        }
        return "it does not say why";
    }
}
