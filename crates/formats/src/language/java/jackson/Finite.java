import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

/** Whether every float of a message can be said in a format without NaN and infinities. */
final class Finite {
    private Finite() {}

    static boolean message(Object made) {
        if (made instanceof Float || made instanceof Double) {
            return Double.isFinite(((Number) made).doubleValue());
        }
        if (made instanceof Iterable<?> all) {
            for (Object one : all) {
                if (!message(one)) {
                    return false;
                }
            }
            return true;
        }
        if (made == null || made instanceof Number || made instanceof Boolean
                || made instanceof String) {
            return true;
        }
        if (made.getClass().isArray()) {
            for (int place = 0; place < Array.getLength(made); place++) {
                if (!message(Array.get(made, place))) {
                    return false;
                }
            }
            return true;
        }
        for (Field field : made.getClass().getFields()) {
            try {
                if (!Modifier.isStatic(field.getModifiers()) && !message(field.get(made))) {
                    return false;
                }
            } catch (IllegalAccessException error) {
                throw new IllegalStateException(error);
            }
        }
        return true;
    }
}
