import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import wiregauge_runner.Rejected;

/**
 * Refuses a message with a not-a-number of other bits than Java's own: libraries that go by {@code
 * floatToIntBits} would change it in silence.
 */
final class Nans {
    private Nans() {}

    static void refuse(Object made) throws Rejected {
        if (made instanceof Float one) {
            int bits = Float.floatToRawIntBits(one);
            keep(bits == Float.floatToIntBits(one));
        } else if (made instanceof Double one) {
            long bits = Double.doubleToRawLongBits(one);
            keep(bits == Double.doubleToLongBits(one));
        } else if (made instanceof Iterable<?> all) {
            for (Object one : all) {
                refuse(one);
            }
        } else if (made == null || made instanceof Number || made instanceof Boolean
                || made instanceof String) {
            return;
        } else if (made.getClass().isArray()) {
            boolean isOther = made.getClass().getComponentType().isPrimitive()
                    && !(made instanceof float[] || made instanceof double[]);
            for (int place = 0; !isOther && place < Array.getLength(made); place++) {
                refuse(Array.get(made, place));
            }
        } else {
            for (Field field : made.getClass().getFields()) {
                try {
                    if (!Modifier.isStatic(field.getModifiers())) {
                        refuse(field.get(made));
                    }
                } catch (IllegalAccessException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
    }

    private static void keep(boolean isKept) throws Rejected {
        if (!isKept) {
            throw new Rejected("the library makes another not-a-number of one with these bits");
        }
    }
}
