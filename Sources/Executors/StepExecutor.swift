/// Where work runs that otherwise has threads of its own: a simulation, which decides what comes next.
///
/// Work is cut into steps. Each one runs to its end without waiting for another; between them, anything else that is
/// ready may run. Nothing in a program that serves people implements this.
public protocol StepExecutor: Sendable {
    /// Runs `step` once, later: never inside this call, and never at the same time as another step.
    func schedule(_ step: @escaping @Sendable () -> Void)
    /// A choice that the simulation makes: 0 ..< `count`, which is 1 or more.
    func choose(_ count: Int) -> Int
}
