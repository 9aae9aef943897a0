"""The accuracy-naturalness tradeoff in machine translation: ``import anhelpers as an``.

Texts
    load a test set ("teaching" is bundled), load_candidates, load_mono (R, monolingual text), load_ratings;
    read_plain, read_candidates, read_ratings (MQM) from files; from_systems, add_systems, sample_candidates,
    write_candidates; TestSet, CandidateSet; mono_for, system_categories, load_world.
Metrics
    metric finds a Metric by name; load_lm, load_critic, load_mt load models; score_texts and score_pairs return
    log-probabilities; explain shows a critic's score word by word; system_scores, lpp_distance; load_scores loads
    the bundled scores of WMT24's systems.
The curve and the plane
    oracle_curve from scores; oracle_study and judged_studies from texts; system_plane, rated_plane; systems_table,
    paired_tests, local_correlation, verdict; with_human_points, pareto_mask; score_ratings of MQM.
Widgets
    explore (drag β), rating_sheet, mqm_editor, tradeoff_explorer, divergence_explorer.
Charts
    plot_curve, plot_systems, plot_lines, plot_words, plot_tradeoff, plot_local_correlation, plot_gap,
    plot_xmi_bars, plot_xmi_bleu; save writes a chart, use_offline prepares a notebook.
Statistics
    bootstrap_means, spearman, pearson, holm; Estimate: a value with its interval, n, unit and signature.
In notebooks
    check and holds for exercises; DataError, AnhelpersError, AnhelpersWarning.
Rooms
    Mathematics: exact, divergences, frontier, fan, bootstrap, stats. Texts: data, candidates, accuracy, naturalness,
    translation, scoring. Studies: plane, mqm, xmi. Output: charts, widgets, classroom, notebooks. Input: checks.

Imports are lazy: `import anhelpers` takes milliseconds.
"""

import lazy_loader

__version__ = "2.0.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
