import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.PackageVersion;
import com.fasterxml.jackson.dataformat.smile.databind.SmileMapper;

/** Jackson's Smile. */
final class Mapper {
    static final String NAME = "Jackson " + PackageVersion.VERSION;
    static final boolean IS_TEXT = false;

    private Mapper() {}

    static ObjectMapper make() {
        return SmileMapper.builder().build();
    }
}
