// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCRuntime
import TagLink
import Testing

@Suite struct `The simulator among the kinds of readers` {
    @Test func `is named with or without a path, and is for sessions`() throws {
        let kind = try #require(ReaderKind.named(ReaderName("simulator")))
        #expect(kind.use == .sessions)
        #expect(kind.problem(ReaderName("simulator")) == nil)
        #expect(kind.problem(ReaderName("simulator:/tmp/socket")) == nil)
        #expect(kind.problem(ReaderName("simulator:")) == .unnamed)
        let environment = NFCEnvironment(ReaderConfiguration(reader: "simulator:/nowhere"))
        let driver = try #require(environment.driver)
        #expect(ReaderKind.of(driver)?.scheme == "simulator")
        let unnamed = NFCEnvironment(ReaderConfiguration(reader: "simulator:"))
        guard case .none(let reason) = unnamed.reader else {
            Issue.record("A name without a path gives a reader.")
            return
        }
        #expect(reason.hasPrefix("Name the simulator's socket"))
    }

    @Test func `asks the simulator for its turn, and no background service`() throws {
        let gate = try #require(NFCEnvironment(ReaderConfiguration(reader: "simulator:/nowhere")).gate)
        #expect(!(gate is ReaderGate))
    }
}
