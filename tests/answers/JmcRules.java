import java.io.File;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.ResultToolkit;
import org.openjdk.jmc.flightrecorder.rules.RuleRegistry;
import org.openjdk.jmc.flightrecorder.rules.Severity;
import org.openjdk.jmc.flightrecorder.rules.TypedResult;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit;

/** The automated analysis of JDK Mission Control without its window: "SCORE TAB RULE TAB ALL ITS TEXT" of what it warns of or tells, worst first. */
public class JmcRules {
    public static void main(String[] args) throws Exception {
        var events = JfrLoaderToolkit.loadEvents(new File(args[0]));
        var futures = RulesToolkit.evaluateParallel(RuleRegistry.getRules(), events, IPreferenceValueProvider.DEFAULT_VALUES, 1);
        List<IResult> results = new ArrayList<>();
        for (var future : futures.values()) {
            IResult result = future.get();
            if (result.getSeverity() == Severity.INFO || result.getSeverity() == Severity.WARNING) results.add(result);
        }
        results.sort(Comparator.comparingDouble(JmcRules::score).reversed());
        for (IResult result : results) {
            StringBuilder text = new StringBuilder();
            for (String part : new String[] {result.getSummary(), result.getExplanation(), result.getSolution()}) {
                if (part != null) text.append(ResultToolkit.populateMessage(result, part, false)).append(' ');
            }
            System.out.printf("%.0f\t%s\t%s%n", score(result), result.getRule().getName(), text.toString().replaceAll("\\s+", " "));
        }
        System.exit(0);
    }

    private static double score(IResult result) {
        var score = result.getResult(TypedResult.SCORE);
        return score == null ? result.getSeverity().getLimit() : score.doubleValue();
    }
}
