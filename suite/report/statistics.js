// Arrivals and exact tests as suite/results computes them: arrivals.py and statistics.py.
// "Never" is Infinity. A test in a browser compares each number with Python's.
const statistics = (() => {
  const LAPSES = 1 / 20; // evaluations below the threshold that a lasting arrival allows

  function firstArrival(timesteps, returns, threshold) {
    const place = returns.findIndex((value) => value >= threshold);
    return place < 0 ? Infinity : timesteps[place];
  }

  function lastingArrival(timesteps, returns, threshold) {
    let lapses = 0;
    let found = Infinity;
    for (let place = returns.length - 1; place >= 0; place -= 1) {
      if (!(returns[place] >= threshold)) lapses += 1;
      else if (lapses <= LAPSES * (returns.length - place)) found = timesteps[place];
    }
    return found;
  }

  /** By linear interpolation, as numpy does; two infinite neighbours stay infinite. */
  function quantile(values, share) {
    const ordered = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const place = share * (ordered.length - 1);
    const low = ordered[Math.floor(place)];
    const high = ordered[Math.ceil(place)];
    return low === high ? low : low + (high - low) * (place - Math.floor(place));
  }

  const median = (values) => (values.length ? quantile(values, 0.5) : NaN);

  /** Twice the mid-ranks: whole numbers, so that sums can be counted exactly. */
  function doubledRanks(values) {
    return values.map((value) => {
      const smaller = values.filter((other) => other < value).length;
      const equal = values.filter((other) => other === value).length;
      return 2 * smaller + equal + 1;
    });
  }

  /** Number of ways to choose `size` of the ranks so that they sum to 0, 1, 2, ... */
  function rankSumCounts(ranks, size) {
    const total = ranks.reduce((sum, rank) => sum + rank, 0);
    const counts = Array.from({ length: size + 1 }, () => new Float64Array(total + 1));
    counts[0][0] = 1;
    for (const rank of ranks) {
      for (let chosen = size; chosen > 0; chosen -= 1) {
        for (let sum = rank; sum <= total; sum += 1) {
          counts[chosen][sum] += counts[chosen - 1][sum - rank];
        }
      }
    }
    return counts[size];
  }

  /** P(first < second), ties counting half, with the exact one-sided Mann-Whitney p-value. */
  function probabilitySmaller(first, second) {
    const ranks = doubledRanks([...first, ...second]);
    const observed = ranks.slice(0, first.length).reduce((sum, rank) => sum + rank, 0);
    const counts = rankSumCounts(ranks, first.length);
    const all = counts.reduce((sum, count) => sum + count, 0);
    const extreme = counts.slice(0, observed + 1).reduce((sum, count) => sum + count, 0);
    const largerPairs = (observed - first.length * (first.length + 1)) / 2;
    return {
      effect: 1 - largerPairs / (first.length * second.length),
      pValue: extreme / all,
    };
  }

  return { firstArrival, lastingArrival, quantile, median, probabilitySmaller };
})();
