// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import NFCReaders
import NFCSessions
import TagLink

/// Finds the readers of a configuration, also those that are plugged in later, and gives each to the agent.
package actor ReaderRoster {
    private let agent: Agent
    private let configuration: AgentConfiguration
    private let log: AgentLog
    private var names: [String: FleetName] = [:]
    private var observations: [PresenceObservation] = []
    private var watching: Task<Void, Never>?
    /// Why there is no reader, as it was logged last.
    private var absence: String?

    package init(_ agent: Agent, _ configuration: AgentConfiguration, log: AgentLog) {
        self.agent = agent
        self.configuration = configuration
        self.log = log
    }

    /// Why a reader of a configuration can never be used, as a sentence that says what to do; nil when all can.
    package static func problem(_ configuration: AgentConfiguration) -> String? {
        guard !configuration.readers.isEmpty || !configuration.namedReaders.isEmpty else {
            return "There is no reader. Name one in readers, or in [[reader]]."
        }
        let readers = configuration.readers.filter { $0 != "all" } + configuration.namedReaders.map(\.reader)
        // It is whichever reader comes first, which "all" finds too.
        guard !configuration.readers.contains("all") || !readers.contains("pcsc") else {
            return """
                The reader pcsc would be used twice, because readers has "all", as it has by default. Write the whole name of \
                the reader, or readers = [].
                """
        }
        return readers.lazy.compactMap { ReaderConfiguration(reader: $0, tags: configuration.tags).backgroundProblem }
            .first
    }

    /// Adds the readers that are named, and those that are plugged in. Others are added when they are plugged in.
    package func start() async {
        for named in configuration.namedReaders { await add(named.reader, as: named.name) }
        for reader in configuration.readers where reader != "all" { await add(reader, as: nil) }
        if configuration.readers.contains("all") {
            if configuration.tags != nil { await add("virtual", as: nil) }
            watch()
        }
    }

    /// Looks for no more readers.
    package func stop() {
        observations = []
        watching?.cancel()
    }

    private func watch() {
        let (changes, input) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        observations = MachineReaders.observe { input.yield() }
        input.yield()
        watching = Task { [weak self] in
            for await _ in changes {
                let listed = await MachineReaders.list()
                for reader in listed { await self?.addListed(reader.reader) }
                await self?.noteAbsence(isEmpty: listed.isEmpty)
            }
        }
    }

    /// Logs once why no reader is there. That is no error, because one may be plugged in later.
    private func noteAbsence(isEmpty: Bool) {
        // A reader that was there says itself why it is gone.
        guard isEmpty, !names.keys.contains(where: { $0.hasPrefix("pcsc") }) else {
            absence = nil
            return
        }
        let reasons = MachineReaders.absences().joined(separator: " ")
        guard !reasons.isEmpty, reasons != absence else { return }
        absence = reasons
        log("no-reader", "There is no reader of PC/SC yet. \(reasons)")
    }

    private func addListed(_ reader: String) async {
        // A reader that was named, also by a part of its name, has its station already.
        let named = (configuration.namedReaders.map(\.reader) + configuration.readers).filter { $0.hasPrefix("pcsc:") }
        let isNamed = named.contains { reader.dropFirst(5).lowercased().contains($0.dropFirst(5).lowercased()) }
        if !isNamed { await add(reader, as: nil) }
    }

    private func add(_ reader: String, as name: FleetName?) async {
        guard names[reader] == nil else { return }
        let name = name ?? freeName(for: reader)
        names[reader] = name
        let environment = NFCEnvironment.background(
            ReaderConfiguration(reader: reader, tags: configuration.tags)
        ) { [log] text in
            log("notice", text)
        }
        await agent.add(StationReader(name: name, reader: reader, environment: environment))
    }

    /// A name that no other reader has, made from the reader's own.
    private func freeName(for reader: String) -> FleetName {
        let own = reader.hasPrefix("pcsc:") ? String(reader.dropFirst(5)) : reader
        let base = FleetName(slugOf: own)
        var name = base
        var number = 2
        while names.values.contains(name) {
            name = FleetName(slugOf: "\(base.text.prefix(58))-\(number)")
            number += 1
        }
        return name
    }
}
