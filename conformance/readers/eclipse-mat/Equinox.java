import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/**
 * Runs a program of ours among the bundles of an Eclipse application: its classes are found in the bundles. Arguments: the folder
 * `plugins` of the application, the class of the program, and its arguments.
 */
final class Equinox {
    private Equinox() {
    }

    /** Gives the classes of bundles. */
    private static final class Bundles extends ClassLoader {
        private final List<Bundle> bundles;

        Bundles(List<Bundle> bundles) {
            super(ClassLoader.getPlatformClassLoader());
            this.bundles = bundles;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            for (Bundle bundle : bundles) {
                try {
                    return bundle.loadClass(name);
                } catch (ClassNotFoundException inAnother) {
                    continue;
                }
            }
            throw new ClassNotFoundException(name);
        }
    }

    private static Framework start(Path storage) throws BundleException {
        Map<String, String> properties = new HashMap<>();
        properties.put(Constants.FRAMEWORK_STORAGE, storage.resolve("configuration").toString());
        properties.put("osgi.instance.area", storage.resolve("workspace").toUri().toString());
        Framework framework = ServiceLoader.load(FrameworkFactory.class).iterator().next().newFramework(properties);
        framework.start();
        return framework;
    }

    /** All are installed. Those start that can: a bundle of the user interface lacks others where they were left out. */
    private static void install(Framework framework, File[] jars) throws BundleException {
        for (File jar : jars) {
            String file = jar.getName();
            if (file.endsWith(".jar") && !file.matches(framework.getSymbolicName() + "[-_][0-9].*")) {
                framework.getBundleContext().installBundle("reference:" + jar.toURI());
            }
        }
        for (Bundle bundle : framework.getBundleContext().getBundles()) {
            if (bundle != framework && bundle.getHeaders().get(Constants.FRAGMENT_HOST) == null) {
                try {
                    bundle.start(Bundle.START_ACTIVATION_POLICY);
                } catch (BundleException cannot) {
                    System.err.println(cannot.getMessage());
                }
            }
        }
    }

    /** Ours: what of the class path is no bundle. */
    private static URL[] own(File plugins) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!plugins.equals(new File(entry).getParentFile())) {
                urls.add(new File(entry).toURI().toURL());
            }
        }
        return urls.toArray(new URL[0]);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        }
    }

    public static void main(String[] arguments) throws Throwable {
        File plugins = new File(arguments[0]);
        Path storage = Files.createTempDirectory("equinox");
        Framework framework = start(storage);
        try {
            install(framework, plugins.listFiles());
            List<Bundle> bundles = new ArrayList<>();
            for (Bundle bundle : framework.getBundleContext().getBundles()) {
                if (String.valueOf(bundle.getSymbolicName()).startsWith("org.eclipse.mat.")) {
                    bundles.add(bundle);
                }
            }
            try (URLClassLoader loader = new URLClassLoader(own(plugins), new Bundles(bundles))) {
                Method main = loader.loadClass(arguments[1]).getMethod("main", String[].class);
                main.setAccessible(true); // the class is not public
                main.invoke(null, (Object) Arrays.copyOfRange(arguments, 2, arguments.length));
            }
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        } finally {
            framework.stop();
            framework.waitForStop(0);
            delete(storage);
        }
    }
}
