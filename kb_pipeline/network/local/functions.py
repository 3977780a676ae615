"""The functions of DuckDB that a query of the local store may call: what its answer needs, and nothing else.

They compute with their arguments alone. Left out are those that tell or change something of the program or the machine,
and those whose result is as long as a number says, such as ``printf``, ``lpad``, ``repeat``, ``range`` and
``bitstring``. What a new release of DuckDB adds is left out, too, until it is written here.
"""

_SUMS = """
    any_value approx_count_distinct approx_quantile arbitrary arg_max arg_min argmax argmin array_agg avg bool_and
    bool_or corr count count_if count_star countif covar_pop covar_samp entropy favg first fsum geomean geometric_mean
    group_concat histogram kurtosis last list listagg mad max max_by mean median min min_by mode product quantile
    quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy sem skewness stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance weighted_avg
"""
_WINDOWS = """
    cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number
"""
_NUMBERS = """
    abs acos asin atan atan2 cbrt ceil ceiling cos cot degrees divide even exp fdiv floor fmod gcd greatest isfinite
    isinf isnan lcm least ln log log10 log2 mod multiply pi pow power radians round round_even sign signbit sin sqrt
    subtract add tan trunc xor bit_and bit_count bit_or bit_xor
"""
_TEXTS = """
    array_extract ascii char_length character_length chr concat concat_ws contains damerau_levenshtein editdist3
    ends_with format_bytes hamming ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity lcase left len
    length levenshtein like_escape lower ltrim md5 mismatches nfc_normalize not_ilike_escape not_like_escape ord overlay
    position prefix regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
    regexp_split_to_array replace reverse right rtrim sha256 split split_part starts_with str_split str_split_regex
    string_split string_split_regex string_to_array strip_accents strlen strpos substr substring suffix translate trim
    ucase unicode upper
"""
_TIMES = """
    age ago century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname
    dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era get_current_time
    get_current_timestamp hour isodow isoyear julian last_day make_date make_time make_timestamp make_timestamp_ms
    make_timestamptz microsecond millisecond minute month monthname now quarter second strftime strptime time_bucket
    timezone to_centuries to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months
    to_quarters to_seconds to_timestamp to_weeks to_years today try_strptime week weekday weekofyear year yearweek
"""
_LISTS = """
    apply array_append array_concat array_contains array_distinct array_filter array_has array_has_all array_has_any
    array_intersect array_length array_position array_prepend array_reverse array_slice array_sort array_to_string
    array_transform array_unique element_at filter flatten list_any_value list_append list_apply list_avg list_bool_and
    list_bool_or list_cat list_concat list_contains list_count list_distinct list_element list_extract list_filter
    list_first list_has list_has_all list_has_any list_intersect list_last list_max list_median list_min list_position
    list_prepend list_product list_reduce list_reverse list_reverse_sort list_slice list_sort list_stddev_pop
    list_string_agg list_sum list_transform list_unique list_value list_where list_zip map map_entries map_extract
    map_from_entries map_keys map_values reduce row struct_extract struct_insert struct_keys struct_pack struct_values
    unnest
"""
_OTHERS = """
    hash if json_array json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text
    json_extract_string json_keys json_object json_type json_valid json_value nullif to_json typeof
"""
FUNCTIONS = frozenset("".join((_SUMS, _WINDOWS, _NUMBERS, _TEXTS, _TIMES, _LISTS, _OTHERS)).split())
