/** Reports each message once: a file that vanished is asked for again and again. */
export function reportOnce(onProblem: (problem: Error) => void): (problem: Error) => void {
  const reported = new Set<string>()
  return (problem) => {
    if (reported.has(problem.message)) return
    reported.add(problem.message)
    onProblem(problem)
  }
}
