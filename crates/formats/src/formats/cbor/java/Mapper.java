import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.PackageVersion;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;

/** Jackson's CBOR. */
final class Mapper {
    static final String NAME = "Jackson " + PackageVersion.VERSION;
    static final boolean IS_TEXT = false;

    private Mapper() {}

    static ObjectMapper make() {
        return CBORMapper.builder().build();
    }
}
