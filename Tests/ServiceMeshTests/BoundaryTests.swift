import ServiceMesh
import Testing

private let second: UInt64 = 1_000_000_000

/// `#expect` cannot hold an expression that changes a value.
private func check(_ holds: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(holds, comment, sourceLocation: sourceLocation)
}

@Suite struct RetryBudgetTests {
    @Test func aFifthOfWhatSucceedsMayBeTriedAgain() {
        var budget = RetryBudget(percent: 20, floor: 0, burst: 3, now: 0)
        for _ in 0..<3 { check(budget.withdraw(at: 0)) }
        check(!budget.withdraw(at: 100 * second), "without a floor time alone earns nothing")
        for _ in 0..<4 { budget.succeed() }
        check(!budget.withdraw(at: 0))
        budget.succeed()
        check(budget.withdraw(at: 0))
        check(!budget.withdraw(at: 0))
    }

    @Test func tokensAreBoundedBelowAndAbove() {
        var budget = RetryBudget(percent: 100, floor: 2, burst: 5, now: 0)
        for _ in 0..<1_000 { budget.succeed() }
        check((0..<100).count { _ in budget.withdraw(at: 0) } == 5)
        check((0..<100).count { _ in budget.withdraw(at: second) } == 2, "two a second without any success")
        check((0..<100).count { _ in budget.withdraw(at: .max) } == 5, "a pause of any length fills it once")
    }

    @Test func shortPausesAddUpAndAClockThatGoesBackEarnsNothing() {
        var budget = RetryBudget(percent: 0, floor: 1, burst: 1, now: second)
        check(budget.withdraw(at: second))
        check(!budget.withdraw(at: 0))
        let retries = (1...20_000).count { budget.withdraw(at: second + UInt64($0) * 100_000) }
        check(retries == 2, "two seconds in steps of a tenth of a millisecond")
    }
}

@Suite struct RestartIntensityTests {
    @Test func moreThanSoManyWithinThePeriodAreTooMany() {
        var intensity = RestartIntensity(most: 2, period: 5 * second)
        check(!intensity.isExceeded(byRestartAt: 0))
        check(!intensity.isExceeded(byRestartAt: 4 * second))
        check(!intensity.isExceeded(byRestartAt: 5 * second), "the first is a period ago")
        check(intensity.isExceeded(byRestartAt: 6 * second))
        check(!intensity.isExceeded(byRestartAt: 6 * second), "counted anew")
    }

    @Test func whatHasProvedItselfStartsAnew() {
        var intensity = RestartIntensity(most: 1, period: second)
        for _ in 0..<10 {
            check(!intensity.isExceeded(byRestartAt: 0))
            intensity.reset()
        }
        check(!intensity.isExceeded(byRestartAt: 0))
        check(intensity.isExceeded(byRestartAt: 0))
    }
}

@Suite struct CircuitBreakerTests {
    @Test func failuresInARowOpenItAndASuccessBetweenThemDoesNot() {
        var breaker = CircuitBreaker(failures: 3, openFor: second, atMost: 4 * second)
        for _ in 0..<2 { breaker.fail(at: 0) }
        breaker.succeed()
        for _ in 0..<2 { breaker.fail(at: 0) }
        check(breaker.decide(at: 0) == .allowed)
        breaker.fail(at: 0)
        check(breaker.decide(at: second / 4) == .refused(second / 4 * 3))
    }

    @Test func afterThePauseOneCallIsLetThroughAndDecides() {
        var breaker = CircuitBreaker(failures: 1, openFor: second, atMost: 4 * second)
        breaker.fail(at: 0)
        check(breaker.decide(at: second) == .allowed)
        check(breaker.decide(at: second) == .refused(second), "one, not two")
        breaker.succeed()
        check(breaker.isClosed)
        for _ in 0..<10 { check(breaker.decide(at: second) == .allowed) }
    }

    @Test func thePauseDoublesUpToItsBound() {
        var breaker = CircuitBreaker(failures: 1, openFor: second, atMost: 5 * second)
        var now: UInt64 = 0
        breaker.fail(at: now)
        for pause in [1, 2, 4, 5, 5].map({ $0 * second }) {
            check(breaker.decide(at: now + pause - 1) == .refused(1))
            now += pause
            check(breaker.decide(at: now) == .allowed)
            breaker.fail(at: now)
        }
        now += 5 * second
        check(breaker.decide(at: now) == .allowed)
        breaker.succeed()
        breaker.fail(at: now)
        check(breaker.decide(at: now) == .refused(second), "short again after a success")
    }

    @Test func aTryThatNeverReportsDoesNotShutItForGood() {
        var breaker = CircuitBreaker(failures: 1, openFor: second, atMost: second)
        breaker.fail(at: 0)
        check(breaker.decide(at: second) == .allowed)
        check(breaker.decide(at: 2 * second) == .allowed)
    }
}

@Suite struct ProcessBoundaryTests {
    @Test func thousandsOfHostileFilesShutNobodyOutAndCostTwoHelpersEachAtMost() {
        var boundary = ProcessBoundary(now: 0)
        var started = 0
        // A hundred a second, each with a helper of its own.
        for file in 0..<5_000 {
            let now = UInt64(file) * second / 100
            check(boundary.mayStart(at: now) == .allowed)
            boundary.started()
            started += boundary.mayRetry(after: .crashed, at: now) ? 2 : 1
        }
        // 10 at once and one a second for 50 seconds, no more.
        check((5_055...5_061).contains(started))
        // A good file whose helper the kernel killed has its second attempt all the same.
        check(boundary.mayRetry(after: .killed, at: 50 * second))
        check(boundary.mayStart(at: 50 * second) == .allowed)
    }

    @Test func helpersThatProveNothingAreNotStartedWithoutEnd() {
        var boundary = ProcessBoundary(now: 0)
        for _ in 0..<6 {
            check(boundary.mayStart(at: 0) == .allowed)
            boundary.endedBeforeAnswering(at: 0)
        }
        check(boundary.mayStart(at: 0) == .refused(second))
        // One try, and its failure shuts it for twice as long.
        check(boundary.mayStart(at: second) == .allowed)
        check(boundary.mayStart(at: second) != .allowed)
        boundary.endedBeforeAnswering(at: second)
        check(boundary.mayStart(at: second) == .refused(2 * second))
        check(boundary.mayStart(at: 3 * second) == .allowed)
        boundary.started()
        boundary.answered(atFirst: true)
        for _ in 0..<5 { boundary.endedBeforeAnswering(at: 3 * second) }
        check(boundary.mayStart(at: 3 * second) == .allowed)
    }

    @Test func helpersThatEndIdleAfterAnAnswerAreNoSignOfAnything() {
        var boundary = ProcessBoundary(now: 0)
        for _ in 0..<1_000 {
            check(boundary.mayStart(at: 0) == .allowed)
            boundary.started()
            boundary.answered(atFirst: true)
            boundary.endedBeforeAnswering(at: 0)
        }
        check(boundary.mayStart(at: 0) == .allowed)
    }
}
