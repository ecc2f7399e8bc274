// SPDX-License-Identifier: Apache-2.0
package import FleetModel
import NFCReaders
import NFCSessions
import TagLink

/// Finds the configured readers, including those plugged in later, and adds each to the agent.
package actor ReaderRoster {
    private let agent: Agent
    private let configuration: AgentConfiguration
    private let log: AgentLog
    private var names: [String: FleetName] = [:]
    private var observations: [PresenceObservation] = []
    private var watching: Task<Void, Never>?
    /// The last logged reason why there is no reader.
    private var absence: String?

    package init(_ agent: Agent, _ configuration: AgentConfiguration, log: AgentLog) {
        self.agent = agent
        self.configuration = configuration
        self.log = log
    }

    /// Returns why a configured reader can never be used, and what to do about it; nil if all readers are usable.
    package static func problem(_ configuration: AgentConfiguration) -> String? {
        guard !configuration.readers.isEmpty || !configuration.namedReaders.isEmpty else {
            return "No reader is configured. Name one in readers, or in [[reader]]."
        }
        let readers = configuration.readers.filter { $0 != "all" } + configuration.namedReaders.map(\.reader)
        // "pcsc" means the first PC/SC reader found. "all" finds that reader too.
        guard !configuration.readers.contains("all") || !readers.contains("pcsc") else {
            return """
                The reader pcsc would be used twice, because readers contains "all", which is the default. Write the \
                reader's full name, or readers = [].
                """
        }
        for (index, one) in readers.enumerated() {
            if let other = readers[..<index].first(where: { mayBeSame(one, $0) }) {
                return one == other
                    ? "The reader \(one) is configured twice. Remove one of the entries."
                    : "The names \(other) and \(one) may mean the same reader. Write the full name of each reader."
            }
        }
        return readers.lazy.compactMap { ReaderConfiguration(reader: $0, tags: configuration.tags).backgroundProblem }
            .first
    }

    /// Whether two names can mean one reader. A PC/SC reader may be named by a part of its name, in any case, and `pcsc`
    /// means the first one.
    private static func mayBeSame(_ one: String, _ other: String) -> Bool {
        func part(_ name: String) -> String? {
            name == "pcsc" ? "" : name.hasPrefix("pcsc:") ? name.dropFirst(5).lowercased() : nil
        }
        guard let one = part(one), let other = part(other) else { return one == other }
        return one.isEmpty || other.isEmpty || one.contains(other) || other.contains(one)
    }

    /// Adds the named readers and those already plugged in. Other readers are added when they are plugged in.
    package func start() async {
        for named in configuration.namedReaders { await add(named.reader, as: named.name) }
        for reader in configuration.readers where reader != "all" { await add(reader, as: nil) }
        if configuration.readers.contains("all") {
            if configuration.tags != nil { await add("virtual", as: nil) }
            watch()
        }
    }

    /// Stops looking for readers.
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

    /// Logs once why there is no reader. This is not an error, because a reader may be plugged in later.
    private func noteAbsence(isEmpty: Bool) {
        // A reader that existed before reports its own absence.
        guard isEmpty, !names.keys.contains(where: { $0.hasPrefix("pcsc") }) else {
            absence = nil
            return
        }
        let reasons = MachineReaders.absences().joined(separator: " ")
        guard !reasons.isEmpty, reasons != absence else { return }
        absence = reasons
        log("no-reader", "No PC/SC reader is available yet. \(reasons)")
    }

    private func addListed(_ reader: String) async {
        // A configured reader, even if named only in part, already has a station.
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

    /// Returns an unused name derived from the reader's own name.
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
