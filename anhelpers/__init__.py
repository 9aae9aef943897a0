"""The accuracy-naturalness tradeoff in machine translation: ``import anhelpers as an``.

Texts
    load a test set ("teaching" is bundled), load_candidates, load_mono (R, texts that people wrote), load_ratings of
    single texts; read_plain, read_candidates, read_ratings (MQM) from files; from_systems, add_systems,
    sample_candidates, write_candidates;
    TestSet, CandidateSet; mono_for, system_categories, load_world.
Metrics
    metric by its name, a Metric; load_lm, load_critic, load_mt models; score_texts, score_pairs for log-probabilities;
    explain a critic's verdict word by word; system_scores, lpp_distance.
The curve and the plane
    oracle_curve of scores, oracle_study and judged_studies of texts; system_plane, rated_plane; systems_table,
    paired_tests, local_correlation, verdict; with_human_points, pareto_mask.
To touch
    explore (drag β); rating_sheet, mqm_editor; tradeoff_explorer, divergence_explorer.
To draw
    plot_curve, plot_systems, plot_lines, plot_words, plot_tradeoff, plot_local_correlation, plot_gap,
    plot_xmi_bars, plot_xmi_bleu; save a picture, use_offline in a notebook.
Judges and raters
    score_ratings of MQM.
Numbers
    bootstrap_means, spearman, pearson, holm; Estimate, any number with its interval, n, unit and signature.
In notebooks
    check an exercise, what it holds; DataError, AnhelpersError: the cause and a remedy in one
    sentence; AnhelpersWarning: a finding that does not stop the computation.
Rooms, each with a table of contents of its own
    Mathematics: exact, divergences, frontier, fan, intervals, stats. Texts: data, candidates, accuracy, naturalness,
    translation, scoring. Studies: plane, mqm, xmi. Pictures: charts, widgets. And classroom,
    notebooks, checks.

Imports are lazy: `import anhelpers` takes milliseconds.
"""

import lazy_loader

__version__ = "2.0.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
