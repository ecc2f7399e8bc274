// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// The conformance suite of readers: a right reader passes and is left as it was, and each flaw is found and named.
@Suite(.timeLimit(.minutes(5))) struct ConformanceTests {
    /// Runs a scenario. Whatever comes of it, the reader is left without tags, faults and sessions.
    @discardableResult
    private static func run(_ name: String, in setup: ReaderSetup) async throws -> String? {
        let scenario = try #require(ReaderConformance.scenarios.first { $0.name == name }, "\(name)")
        let environments = Locked<[NFCEnvironment]>([])
        var observed = setup
        observed.makeEnvironment = {
            let environment = setup.makeEnvironment()
            environments.withLock { $0.append(environment) }
            return environment
        }
        let result: Result<String?, any Error>
        do {
            result = .success(try await scenario.run(in: observed))
        } catch {
            result = .failure(error)
        }
        #expect(setup.field.tags.isEmpty && setup.field.countsSinceArmed == nil, "\(name)")
        // A session passes its reader on after it has reported its end.
        while !environments.withLock({ $0 }).allSatisfy(\.arbiter.isIdle), !Task.isCancelled { await Task.yield() }
        return try result.get()
    }

    private static func failure(of name: String, in setup: ReaderSetup) async -> ConformanceFailure? {
        await #expect(throws: ConformanceFailure.self) { try await run(name, in: setup) }
    }

    // MARK: A right reader

    @Test(arguments: ReaderConformance.scenarios.map(\.name))
    func `reader without a flaw: each scenario passes`(scenario: String) async throws {
        let first = Box<Bool>()
        let flaw = FaultyReader.Flaw { _, answer in
            if first.value == nil { first.set((try? answer.get()) != nil) }
            return answer
        }
        #expect(try await Self.run(scenario, in: .faulty(flaw)) == nil)
        // A tag that comes late comes when the reader has looked in vain.
        if scenario.hasSuffix("arrives after the session has started") { #expect(first.value == false) }
    }

    // MARK: Flaws

    /// A flaw, where it shows, and a part of what is said of it.
    struct Case: Sendable, CustomTestStringConvertible {
        var scenario: String
        var words: String
        var flaw: FaultyReader.Flaw
        var patience = Duration.seconds(20)
        var testDescription: String { "\(scenario): \(words)" }

        init(_ scenario: String, _ words: String, _ flaw: FaultyReader.Flaw, patience: Duration = .seconds(20)) {
            (self.scenario, self.words, self.flaw, self.patience) = (scenario, words, flaw, patience)
        }

        /// Bytes of any answer are read as others.
        static func misread(
            _ scenario: String,
            _ words: String,
            _ bytes: [UInt8],
            as others: [UInt8],
            fromLook look: Int = 0
        ) -> Case { Case(scenario, words, .reads(bytes, as: others, fromLook: look)) }

        /// The answer to a command is wrong in one bit.
        static func command(_ scenario: String, _ words: String, _ command: [UInt8], wrongFrom end: Int = 1) -> Case {
            Case(scenario, words, .answer(to: { $0.has(command) }) { $0[$0.count - end] ^= 1 })
        }

        /// The answer to a command is changed.
        static func answer(
            _ scenario: String,
            _ words: String,
            _ command: [UInt8],
            _ change: @escaping @Sendable (inout [UInt8]) -> Void
        ) -> Case { Case(scenario, words, .answer(to: { $0.has(command) }, change)) }
    }

    private static let gone = LinkError(.timeout, "Nothing came.")
    private static let short = Duration.seconds(5)
    private static let capabilities: [UInt8] = [0xE1, 0x10, 0x12, 0x00]
    private static let readOnly: [UInt8] = [0xE1, 0x10, 0x12, 0x0F]
    private static let one = Array("example.com/one".utf8)
    private static let two = Array("example.com/two".utf8)
    private static let inventory: @Sendable (FaultyReader.Exchange) -> Bool = {
        $0.technology == .nfcV && $0.request.count > 1 && $0.request[1] == 0x01
    }
    /// Answers come from memory once the tag has left.
    private static let remembers = FaultyReader.Flaw(missesPresence: true) { exchange, answer in
        guard case .failure = answer, let last = exchange.lastAnswer else { return answer }
        return .success(last)
    }
    private static let again5 = "Type 5: is found again, and another one after it"
    private static let again2 = "Type 2: is found again, and another one after it"
    private static let waits3 = "Type 3: arrives after the session has started"
    private static let leaves5 = "Type 5: is noticed when it leaves, even without a command"
    private static let found2 = "Type 2: is found, with status and capacity"
    private static let found5 = "Type 5: is found, with status and capacity"
    private static let lost2 = "Type 2: is lost during a write, and not damaged"
    private static let locked2 = "Type 2: is locked, and can't be changed afterwards"
    private static let locked4 = "Type 4A: is locked, and can't be changed afterwards"
    private static let lockedDESFire = "DESFire: is locked, and can't be changed afterwards"
    private static let written4 = "Type 4A: is written, checked and read"
    private static let unformatted2 = "Type 2: is reported as unformatted"

    static let findings: [Case] = [
        Case(found5, "The UID was read as [224, 4, 1, 16, 1, 2, 3, 5].", .answer(to: inventory) { $0[2] ^= 1 }),
        Case(again5, "The same tag has another UID.", .answer(to: { inventory($0) && $0.look > 1 }) { $0[2] ^= 1 }),
        Case(again5, "Another tag has the UID of the first.", .answer(to: inventory) { $0[2] = 4 }),
        .misread(found2, "but reported as read-only", capabilities, as: readOnly),
        .misread(found2, "The capacity is 137 bytes, not ", capabilities, as: [0xE1, 0x10, 0x11, 0x00]),
        // With its own version, an NTAG213 would not be written behind its data.
        Case(
            "Type 2: is written, checked and read",
            "Writing a message that does not fit ended with ",
            .answer(to: { _ in true }) {
                $0.replace(capabilities, with: [0xE1, 0x10, 0x14, 0x00])
                $0.replace([0x04, 0x02, 0x01, 0x00, 0x0F], with: [0x04, 0x02, 0x01, 0x00, 0x11])
            }
        ),
        .misread(written4, "20 bytes were written, but 20 different ones were read", one, as: two, fromLook: 2),
        .misread(locked2, "but reported as writable", readOnly, as: capabilities),
        // The last page of the lock bits is written, and answered with a refusal.
        .answer(locked2, "The lock succeeded on the tag, but ended with update-failed.", [0xA2, 0x28]) { $0 = [0x00] },
        .misread(locked4, "message of a locked tag has changed", one, as: two, fromLook: 2),
        .misread(unformatted2, "unformatted tag ended with no", [0, 0, 0, 0], as: capabilities),
        .misread(lockedDESFire, "needs a key ended with no error", [0x69, 0x82], as: [0x90, 0]),
        // Losses.
        Case(
            lost2,
            "Taking the tag away ended with unsupported.",
            FaultyReader.Flaw { exchange, answer in
                guard exchange.look == 1, exchange.request.first == 0xA2, case .failure = answer else { return answer }
                return .failure(LinkError(.unsupported, "The chip does not send that."))
            }
        ),
        .misread(lost2, "lost during a write is damaged", capabilities, as: [0, 0, 0, 0], fromLook: 2),
        .misread(lost2, "can no longer be written", Array("aaaaaaaa".utf8), as: Array("bbbbbbbb".utf8), fromLook: 2),
        Case(leaves5, "did not notice that the tag has left", remembers, patience: short),
        Case(
            leaves5,
            "The tag has left the field.",
            FaultyReader.Flaw(missesPresence: true) { $0.lastAnswer == nil ? $1 : .failure(gone) }
        ),
        Case(again2, "did not find the tag", .error(gone) { $0.look > 1 }, patience: short),
        Case(waits3, "did not find the tag", .error(gone) { $0.technology == .nfcF }, patience: short),
        Case(found2, "The session ended: ", .init(carrierError: LinkError(.readerUnavailable, "The reader is gone."))),
        Case(
            found5,
            "No room.",
            .error(LinkError(.frameTooLong, "No room.")) { $0.technology == .nfcV && !inventory($0) }
        ),
    ]

    private static let commands2 = "Type 2: accepts commands, and refuses one"
    private static let commands3 = "Type 3: accepts FeliCa commands"
    private static let commands5 = "Type 5: accepts ISO 15693 commands"
    private static let uid: [UInt8] = [4, 3, 2, 1, 0x10, 1, 4, 0xE0]
    private static let block: [UInt8] = [2, 0xFE, 1, 2, 3, 4, 5, 6, 1, 0x09, 0x00, 1, 0x80, 0x05]

    static let commands: [Case] =
        ["Type 4A", "Type 4B"].flatMap { name -> [Case] in
            let short = "\(name): accepts APDUs and returns status words"
            let long = "\(name): exchanges APDUs of many blocks"
            return [
                .command(short, "SELECT was answered with [", [0x00, 0xA4, 0x04, 0x00, 0x07]),
                .command(short, "A missing file was answered with [106, 131].", [0x02, 0x12, 0x34]),
                .command(short, "An unknown instruction was answered with [109, 1].", [0x00, 0x5F, 0x00, 0x00]),
                .command(short, "UPDATE BINARY was answered with [144, 1].", [0x00, 0xD6, 0x00, 0x10, 200]),
                .command(short, "READ BINARY was answered with [0, 1, 2", [0x00, 0xB0, 0x00, 0x10, 200]),
                .command(long, "SELECT was answered with [", [0x00, 0xA4, 0x04, 0x00, 0x07]),
                .command(long, "READ BINARY was answered with [0, 1, 2", [0x00, 0xB0, 0x00, 0x04, 0x00, 0x02, 0x58]),
                // The card has asked for more time, and is granted it.
                Case(
                    long,
                    "UPDATE BINARY was answered with [98, 0].",
                    .answer(to: { $0.request.first == 0xF2 }) { $0.replace([0x90, 0], with: [0x62, 0]) }
                ),
            ]
        } + [
            .command(commands2, "GET VERSION was answered with [0, 4, 4, 2, 1, 0, 15, 2].", [0x60]),
            .command(commands2, "WRITE was answered with [11].", [0xA2, 0x06]),
            .command(commands2, "READ of a missing page was answered with [1].", [0x30, 0xF0]),
            .command(commands2, "READ was answered with [0, 2, 3, 4, ", [0x30, 0x06], wrongFrom: 16),
            .command(commands3, "WRITE WITHOUT ENCRYPTION was answered with [", [0x08] + block),
            .command(commands3, "READ WITHOUT ENCRYPTION was answered with [", [0x06] + block),
            .answer(commands3, "A missing block was answered with [7, ", [1, 0x09, 0, 1, 0x80, 0x60]) {
                $0[10] = 0
            },
            .command(commands5, "WRITE SINGLE BLOCK was answered with [1].", [0x22, 0x21] + uid + [0x05]),
            .command(commands5, "READ SINGLE BLOCK was answered with [0, 1, 2, 3, 5].", [0x22, 0x20] + uid + [0x05]),
            .answer(commands5, "READ MULTIPLE BLOCKS was answered with [", [0x22, 0x23]) { $0.removeLast() },
            .command(commands5, ", 1, 2, 3, 5, ", [0x22, 0x23] + uid, wrongFrom: 5),
            .answer(commands5, "GET SYSTEM INFORMATION was answered with [0, 11, ", [0x22, 0x2B]) { $0[1] = 0x0B },
            .answer(commands5, "A missing block was answered with [0, 1", [0x22, 0x20] + uid + [0xF0]) {
                $0 = [0x00, 1, 2, 3, 4]
            },
        ]

    @Test(arguments: findings + commands) func `reader with a flaw: its scenario fails, and the failure names the flaw`(
        row: Case
    ) async {
        let failure = await Self.failure(of: row.scenario, in: .faulty(row.flaw, patience: row.patience))
        #expect(failure?.description.contains(row.words) == true, "\(failure?.description ?? "none")")
    }

    // MARK: Limits

    private static let withoutV = Set(Technology.allCases).subtracting([.nfcV])

    @Test func `technology that a reader lacks: a known limit if its set-up lists the lack, else a failure`()
        async throws
    {
        let lacks: [ReaderCapability: String] = [
            .technology(.nfcV): "No ISO/IEC 15693.", .packets(.nfcV): "No packets.",
        ]
        let able = FaultyReader.Flaw(technologies: Self.withoutV)
        let said = ReaderSetup.faulty(able, lacks: lacks, technologies: Self.withoutV)
        for scenario in ReaderConformance.scenarios where scenario.needs.contains(.technology(.nfcV)) {
            #expect(try await Self.run(scenario.name, in: said) == "No ISO/IEC 15693.")
        }
        #expect(try await Self.run("Type 3: is written, checked and read", in: said) == nil)
        let unsaid = ReaderSetup.faulty(able, technologies: Self.withoutV, patience: .seconds(2))
        #expect(await Self.failure(of: Self.found5, in: unsaid)?.isLimit == true)
        let wrong = FaultyReader.Flaw(technologies: Set(Technology.allCases))
        let failure = await Self.failure(of: Self.found5, in: .faulty(wrong, lacks: lacks, technologies: Self.withoutV))
        #expect(failure?.description == "The reader looks for nfcV, but should not.")
    }

    private static let refusals: [(request: [UInt8], lacks: ReaderCapability, scenario: String)] = [
        ([0x60], .packets(.nfcA), commands2), ([0x22, 0x21], .packets(.nfcV), commands5),
        ([0xD6, 0x00, 0x04, 0x00, 0x02, 0x58], .extendedAPDUs, "Type 4A: exchanges APDUs of many blocks"),
        ([0xD6, 0x00, 0x04, 0x00, 0x02, 0x58], .extendedAPDUs, "Type 4B: exchanges APDUs of many blocks"),
        ([0x78], .type1, "Type 1: is written, checked and read"),
    ]

    @Test(arguments: refusals)
    func `command that a reader refuses as unsupported: a known limit if its set-up lists the lack, else a failure`(
        request: [UInt8],
        lacks: ReaderCapability,
        name: String
    ) async throws {
        func setup(_ code: LinkError.Code, _ lacks: [ReaderCapability: String]) -> ReaderSetup {
            .faulty(.error(LinkError(code, "Why.")) { $0.has(request) }, lacks: lacks, patience: .seconds(2))
        }
        let old = [lacks: "The chip is old."]
        #expect(try await Self.run(name, in: setup(.unsupported, old)) == "The chip is old.")
        #expect(await Self.failure(of: name, in: setup(.unsupported, [:]))?.isLimit == true)
        // An error of another kind is no limit; and what is lacked may not work.
        if lacks != .type1 {
            #expect(await Self.failure(of: name, in: setup(.protocolViolation, old))?.isLimit == false)
        }
        let able = await Self.failure(of: name, in: .faulty(FaultyReader.Flaw(), lacks: old))
        #expect(able?.description == "The set-up lacks \(lacks), but the reader supports it." && able?.isLimit == false)
    }
}
