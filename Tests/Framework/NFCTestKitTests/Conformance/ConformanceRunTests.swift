// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualCards
import VirtualTags

/// The report of a conformance run, and the state that it leaves.
@Suite(.timeLimit(.minutes(5))) struct `A conformance run` {
    private static func scenario(_ name: String) throws -> ReaderConformance.Scenario {
        try #require(ReaderConformance.scenarios.first { $0.name == name })
    }

    private static func failure(
        of scenario: ReaderConformance.Scenario,
        in setup: ReaderSetup
    ) async -> ConformanceFailure? {
        await #expect(throws: ConformanceFailure.self) { try await scenario.run(in: setup) }
    }

    /// A set-up whose environments can be looked at.
    private static func observed(_ setup: ReaderSetup) -> (setup: ReaderSetup, environments: Locked<[NFCEnvironment]>) {
        let environments = Locked<[NFCEnvironment]>([])
        let make = setup.makeEnvironment
        var setup = setup
        setup.makeEnvironment = {
            let environment = make()
            environments.withLock { $0.append(environment) }
            return environment
        }
        return (setup, environments)
    }

    @Test(arguments: ReaderConformance.scenarios) func `A right reader passes, and is left as it was`(
        scenario: ReaderConformance.Scenario
    ) async throws {
        let (setup, environments) = Self.observed(.faulty(FaultyReader.Flaw()))
        #expect(try await scenario.run(in: setup) == nil)
        #expect(setup.field.tags.isEmpty)
        #expect(setup.field.countsSinceArmed == nil)
        for environment in environments.withLock({ $0 }) { #expect(environment.arbiter.isIdle) }
    }

    @Test func `There are scenarios for each kind of tag, and each says what it needs`() throws {
        let scenarios = ReaderConformance.scenarios
        #expect(Set(scenarios.map(\.name)).count == scenarios.count)
        for (name, needs) in [
            ("Type 1", [.technology(.nfcA), .type1]), ("Type 2", [.technology(.nfcA)]),
            ("Type 3", [.technology(.nfcF)]), ("Type 4A", [.technology(.nfcA)]), ("Type 4B", [.technology(.nfcB)]),
            ("DESFire", [.technology(.nfcA)]), ("Type 5", [.technology(.nfcV)]),
        ] as [(String, [ReaderCapability])] {
            let own = scenarios.filter { $0.description.hasPrefix("\(name): ") }
            #expect(own.count >= 8)
            for scenario in own { #expect(Array(scenario.needs.prefix(needs.count)) == needs) }
        }
        let further = scenarios.filter { $0.needs.count > 1 && !$0.name.hasPrefix("Type 1:") }.map { $0.needs[1] }
        #expect(further == [.extendedAPDUs, .extendedAPDUs, .packets(.nfcA), .packets(.nfcF), .packets(.nfcV)])
        let words = (further + [.type1, .technology(.nfcB)]).map(\.description)
        #expect(words[1...2] == ["extended APDUs", "packets over nfcA"] && words.suffix(2) == ["Type 1 tags", "nfcB"])
    }

    @Test(arguments: [
        ("is found, with status and capacity", FaultPlan.loss(atExchange: 3)),
        ("is written, checked and read", .tear(afterWrite: 1)),
    ]) func `It begins with an empty field and no faults, whatever was there`(name: String, faults: FaultPlan)
        async throws
    {
        let setup = ReaderSetup.faulty(FaultyReader.Flaw())
        setup.field.bring(try #require(TagProduct(named: "NTAG216")).blank(uid: [4, 9, 9, 9, 9, 9, 9]).makeTag())
        setup.field.arm(faults)
        #expect(try await Self.scenario("Type 2: \(name)").run(in: setup) == nil)
    }

    @Test func `A tag that comes late comes when the reader has looked in vain`() async throws {
        let scenarios = ReaderConformance.scenarios.filter { $0.name.hasSuffix("comes when the session waits already") }
        #expect(scenarios.count == 7)
        for scenario in scenarios {
            let firstIsAnswered = Locked<Bool?>(nil)
            let flaw = FaultyReader.Flaw { _, answer in
                firstIsAnswered.withLock { if $0 == nil { $0 = (try? answer.get()) != nil } }
                return answer
            }
            #expect(try await scenario.run(in: .faulty(flaw)) == nil)
            #expect(firstIsAnswered.withLock { $0 } == false, "\(scenario)")
        }
    }

    @Test func `A failure leaves no session and no tag behind`() async throws {
        let flaw = FaultyReader.Flaw.reads([0xE1, 0x10, 0x12, 0x00], as: [0, 0, 0, 0])
        let (setup, environments) = Self.observed(.faulty(flaw))
        for name in ["is lost in mid-write, and not broken", "is found, with status and capacity"] {
            _ = await Self.failure(of: try Self.scenario("Type 2: \(name)"), in: setup)
            #expect(setup.field.tags.isEmpty)
            #expect(setup.field.countsSinceArmed == nil)
        }
        for environment in environments.withLock({ $0 }) { #expect(environment.arbiter.isIdle) }
    }

    @Test func `A run that is cancelled waits for no tag that does not come`() async throws {
        let gone = LinkError(.timeout, "Nothing came.")
        let (setup, environments) = Self.observed(.faulty(.error(gone) { _ in true }))
        let scenario = try Self.scenario("Type 2: is found, with status and capacity")
        let run = Task { try await scenario.run(in: setup) }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(setup.field.tags.isEmpty)
        for environment in environments.withLock({ $0 }) { #expect(environment.arbiter.isIdle) }
    }

    @Test func `A run that is cancelled waits for no tag that does not leave`() async throws {
        let (remains, continuation) = AsyncStream.makeStream(of: Void.self)
        // Its answers come from memory once the tag has left.
        let flaw = FaultyReader.Flaw(missesPresence: true) { exchange, answer in
            guard case .failure = answer, let last = exchange.lastAnswer else { return answer }
            continuation.yield()
            return .success(last)
        }
        let setup = ReaderSetup.faulty(flaw)
        let scenario = try Self.scenario("Type 5: is noticed when it leaves, though it is sent no command")
        let run = Task { try await scenario.run(in: setup) }
        for await _ in remains { break }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func `A run that is cancelled brings no tag any more`() async throws {
        let changes = Locked(0)
        let setup = ReaderSetup.faulty(
            FaultyReader.Flaw(carrierError: LinkError(.readerUnavailable, "The reader is gone."))
        )
        let observation = setup.field.observePresence { changes.withLock { $0 += 1 } }
        let scenario = try Self.scenario("Type 2: comes when the session waits already")
        let run = Task { try await scenario.run(in: setup) }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(changes.withLock { $0 } == 0)
        withExtendedLifetime(observation) {}
    }

    @Test func `The virtual field is a right reader`() async throws {
        let setup = ReaderSetup.virtual
        #expect(setup.name == ".virtual" && setup.lacks.isEmpty)
        #expect(try await Self.scenario("Type 2: is found, with status and capacity").run(in: setup) == nil)
    }

    @Test func `Without a reader nothing is passed`() async throws {
        let setup = ReaderSetup(name: ".none", field: VirtualField()) { NFCEnvironment(reader: .none(reason: "None.")) }
        for scenario in ReaderConformance.scenarios.prefix(3) {
            #expect(await Self.failure(of: scenario, in: setup)?.description == "The set-up has no reader.")
        }
    }

    // MARK: Limits

    private static let all = Set(Technology.allCases)
    private static let withoutV = all.subtracting([.nfcV])
    private static let refusal = LinkError(.unsupported, "The chip does not send that.")

    @Test func `A technology that the reader does not look for is a limit`() async throws {
        let lacks: [ReaderCapability: String] = [
            .technology(.nfcV): "The chip does not speak ISO/IEC 15693.", .packets(.nfcV): "Nor does it send packets.",
        ]
        let setup = ReaderSetup.faulty(
            FaultyReader.Flaw(technologies: Self.withoutV),
            lacks: lacks,
            technologies: Self.withoutV
        )
        for scenario in ReaderConformance.scenarios where scenario.needs.contains(.technology(.nfcV)) {
            #expect(try await scenario.run(in: setup) == "The chip does not speak ISO/IEC 15693.")
        }
        #expect(try await Self.scenario("Type 3: is written, checked and read").run(in: setup) == nil)
    }

    @Test func `A reader that looks for what it lacks fails`() async throws {
        let setup = ReaderSetup.faulty(
            FaultyReader.Flaw(technologies: Self.all),
            lacks: [.technology(.nfcV): "The chip does not speak ISO/IEC 15693."],
            technologies: Self.withoutV
        )
        let failure = await Self.failure(of: try Self.scenario("Type 5: is written, checked and read"), in: setup)
        #expect(failure?.description == "The reader looks for nfcV, and yet lacks it.")
    }

    @Test func `A technology that is lacked and not said to be lacked is a failure`() async throws {
        let setup = ReaderSetup.faulty(
            FaultyReader.Flaw(technologies: Self.withoutV),
            technologies: Self.withoutV,
            patience: .seconds(2)
        )
        let failure = await Self.failure(of: try Self.scenario("Type 5: is written, checked and read"), in: setup)
        #expect(failure?.description == "The reader did not find the tag.")
        #expect(failure?.isLimit == true)
    }

    /// What a reader refuses, the capability that it lacks by that, and where it shows.
    private static let refusals: [(request: [UInt8], lacks: ReaderCapability, scenario: String)] = [
        ([0x60], .packets(.nfcA), "Type 2: takes commands, and says no"),
        ([0x22, 0x21], .packets(.nfcV), "Type 5: takes ISO 15693 commands"),
        ([0xD6, 0x00, 0x04, 0x00, 0x02, 0x58], .extendedAPDUs, "Type 4A: takes and gives APDUs of many blocks"),
        ([0xD6, 0x00, 0x04, 0x00, 0x02, 0x58], .extendedAPDUs, "Type 4B: takes and gives APDUs of many blocks"),
        ([0x78], .type1, "Type 1: is written, checked and read"),
    ]

    @Test(arguments: refusals) func `What a reader refuses as unsupported is a limit, if it is said to lack it`(
        request: [UInt8],
        lacks: ReaderCapability,
        name: String
    ) async throws {
        let scenario = try Self.scenario(name)
        let flaw = FaultyReader.Flaw.error(Self.refusal) { $0.has(request) }
        func setup(_ flaw: FaultyReader.Flaw, _ lacks: [ReaderCapability: String]) -> ReaderSetup {
            .faulty(flaw, lacks: lacks, patience: .seconds(2))
        }
        let lawful = Self.observed(setup(flaw, [lacks: "The chip is old."]))
        #expect(try await scenario.run(in: lawful.setup) == "The chip is old.")
        #expect(lawful.setup.field.tags.isEmpty)
        for environment in lawful.environments.withLock({ $0 }) { #expect(environment.arbiter.isIdle) }

        let unsaid = await Self.failure(of: scenario, in: setup(flaw, [:]))
        #expect(unsaid?.isLimit == true)

        let able = Self.observed(.faulty(FaultyReader.Flaw(), lacks: [lacks: "The chip is old."]))
        let failure = await Self.failure(of: scenario, in: able.setup)
        #expect(failure?.description == "The reader is said to lack \(lacks), and it does not.")
        #expect(failure?.isLimit == false)
        #expect(able.setup.field.tags.isEmpty)
        for environment in able.environments.withLock({ $0 }) { #expect(environment.arbiter.isIdle) }
    }

    @Test func `An error of another kind is no limit, though the reader is said to lack it`() async throws {
        let damage = LinkError(.protocolViolation, "The answer makes no sense.")
        let (setup, environments) = Self.observed(
            .faulty(.error(damage) { $0.has([0x60]) }, lacks: [.packets(.nfcA): "The chip is old."])
        )
        let scenario = try Self.scenario("Type 2: takes commands, and says no")
        let failure = await Self.failure(of: scenario, in: setup)
        #expect(failure?.isLimit == false)
        #expect(failure?.description.contains("The answer makes no sense.") == true)
        #expect(setup.field.tags.isEmpty)
        for environment in environments.withLock({ $0 }) { #expect(environment.arbiter.isIdle) }
    }
}
