import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.PackageVersion;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Jackson's JSON. */
final class Mapper {
    static final String NAME = "Jackson " + PackageVersion.VERSION;
    static final boolean IS_TEXT = true;

    private Mapper() {}

    static ObjectMapper make() {
        return JsonMapper.builder().build();
    }
}
