import ServiceMeshTesting
import Testing

/// The checker against histories whose verdict is known.
@Suite struct LinearizabilitySimulationTests {
    enum Input: Sendable, Equatable {
        case write(Int)
        case read
        case swap(Int, Int)
    }

    /// One number: writes answer it, reads tell it, a swap says 1 where it found what it expected.
    struct Register: SequentialModel {
        let initial = 0

        func apply(_ input: Input, answering output: Int?, to state: Int) -> Int? {
            switch input {
            case .write(let value): return output == nil || output == value ? value : nil
            case .read: return output == nil || output == state ? state : nil
            case .swap(let old, let new):
                let swaps = state == old
                guard output == nil || output == (swaps ? 1 : 0) else { return nil }
                return swaps ? new : state
            }
        }
    }

    typealias Operation = RecordedOperation<Input, Int>

    private func operation(
        _ input: Input, _ outcome: OperationOutcome<Int>, _ called: Int, _ returned: Int
    ) -> Operation {
        Operation(client: called, input: input, outcome: outcome, called: called, returned: returned)
    }

    private func isLinearizable(_ history: [Operation]) throws -> Bool {
        do {
            try Linearizability.check(history, against: Register())
            return true
        } catch is LinearizabilityViolation {
            return false
        }
    }

    @Test func nothingIsLinearizable() throws { #expect(try isLinearizable([])) }

    @Test func aReadSeesWhatWasWrittenBeforeIt() throws {
        let write = operation(.write(1), .returned(1), 1, 2)
        #expect(try isLinearizable([write, operation(.read, .returned(1), 3, 4)]))
        #expect(try !isLinearizable([write, operation(.read, .returned(0), 3, 4)]))
        #expect(try !isLinearizable([write, operation(.read, .returned(2), 3, 4)]))
    }

    @Test func aReadBesideAWriteMaySeeBoth() throws {
        let write = operation(.write(1), .returned(1), 1, 6)
        #expect(
            try isLinearizable([write, operation(.read, .returned(0), 2, 3), operation(.read, .returned(1), 4, 5)]))
        // But not the new value and then the old one: nobody writes it back.
        #expect(
            try !isLinearizable([write, operation(.read, .returned(1), 2, 3), operation(.read, .returned(0), 4, 5)]))
    }

    @Test func thePaperQueueOfTwoReadersThatDisagreeIsRefused() throws {
        let writes = [operation(.write(1), .returned(1), 1, 20), operation(.write(2), .returned(2), 2, 21)]
        let first = [operation(.read, .returned(1), 3, 4), operation(.read, .returned(2), 5, 6)]
        let second = [operation(.read, .returned(2), 7, 8), operation(.read, .returned(1), 9, 10)]
        #expect(try isLinearizable(writes + first))
        #expect(try isLinearizable(writes + second))
        #expect(try !isLinearizable(writes + first + second))
    }

    @Test func oneOfTwoRacingSwapsWins() throws {
        let left = operation(.swap(0, 1), .returned(1), 1, 4)
        #expect(try isLinearizable([left, operation(.swap(0, 2), .returned(0), 2, 3)]))
        #expect(try !isLinearizable([left, operation(.swap(0, 2), .returned(1), 2, 3)]))
    }

    @Test func whatMayHaveHappenedExplainsButIsNotRequired() throws {
        let perhaps = operation(.write(1), .perhaps, 1, 4)
        #expect(try isLinearizable([perhaps, operation(.read, .returned(1), 5, 6)]))
        #expect(try isLinearizable([perhaps, operation(.read, .returned(0), 5, 6)]))
        // It came back before the first read, so it cannot happen after it.
        let late = [operation(.read, .returned(0), 5, 6), operation(.read, .returned(1), 7, 8)]
        #expect(try !isLinearizable([perhaps] + late))
        // One that never came back can.
        #expect(try isLinearizable([operation(.write(1), .pending, 1, .max)] + late))
        // But only once.
        let again = [operation(.write(3), .returned(3), 9, 10), operation(.read, .returned(1), 11, 12)]
        #expect(try !isLinearizable([operation(.write(1), .pending, 1, .max)] + late + again))
    }

    @Test func whatWasRefusedHasNoPlace() throws {
        let refused = operation(.write(1), .refused, 1, 2)
        #expect(try isLinearizable([refused, operation(.read, .returned(0), 3, 4)]))
        #expect(try !isLinearizable([refused, operation(.read, .returned(1), 3, 4)]))
    }

    @Test func historiesAreCheckedForEachKeyAlone() throws {
        struct Registers: SequentialModel {
            let initial: [Int: Int] = [:]
            func apply(_ input: (key: Int, value: Int?), answering output: Int?, to state: [Int: Int]) -> [Int: Int]? {
                if let value = input.value { return state.merging([input.key: value]) { $1 } }
                return output == nil || output == state[input.key, default: 0] ? state : nil
            }
        }
        // 40 keys with 6 writes at once each: hopeless together, easy apart.
        var history: [RecordedOperation<(key: Int, value: Int?), Int>] = []
        for key in 0..<40 {
            for value in 1...6 {
                history.append(
                    .init(client: value, input: (key, value), outcome: .returned(value), called: 1, returned: 9))
            }
            history.append(.init(client: 0, input: (key, nil), outcome: .returned(4), called: 10, returned: 11))
        }
        try Linearizability.check(history, against: Registers(), by: \.key)
        history.append(.init(client: 0, input: (7, nil), outcome: .returned(5), called: 12, returned: 13))
        #expect(throws: LinearizabilityViolation.self) {
            try Linearizability.check(history, against: Registers(), by: \.key)
        }
    }

    @Test func longHistoriesOfFewClientsAreQuick() throws {
        var history: [Operation] = []
        for turn in 0..<500 {
            history.append(operation(.write(turn), .returned(turn), turn * 10, turn * 10 + 5))
            history.append(operation(.read, .returned(turn), turn * 10 + 1, turn * 10 + 6))
            history.append(operation(.read, .returned(turn), turn * 10 + 2, turn * 10 + 7))
        }
        #expect(try isLinearizable(history))
        history.append(operation(.read, .returned(0), 6000, 6001))
        #expect(try !isLinearizable(history))
    }

    @Test func aViolationSaysWhatCannotBeExplained() throws {
        let history = [operation(.write(1), .returned(1), 1, 2), operation(.read, .returned(7), 3, 4)]
        let violation = #expect(throws: LinearizabilityViolation.self) {
            try Linearizability.check(history, against: Register())
        }
        #expect(violation?.explained.count == 1)
        #expect(violation?.unexplained.count == 1)
        #expect(violation?.description.contains("returned(7)") == true)
    }
}
