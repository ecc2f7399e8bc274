// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import FleetSpool
import TagProtocols

/// Handling what the readers report.
extension Agent {
    /// Starts using a reader.
    package func add(_ reader: StationReader) async {
        guard stations[reader.name] == nil, !isStopping else { return }
        states[reader.name] = ReaderState(reader)
        await jobs.note(readers: Set(states.keys))
        guard stations[reader.name] == nil, !isStopping else { return }
        let handler = StationHandler(self, reader, removalDelay: settings.removalDelay, jobs: jobs)
        let station = ReaderStation(reader, handler: handler)
        // Start the station before storing it, so that a later stop of the agent finds a station that was started.
        station.start()
        stations[reader.name] = (station, loopActor.begin { _ in await station.run() })
        log("reader", "The reader \(reader.name) is \(reader.reader).", [.init("reader", .string(reader.name.text))])
        guard outbox.isConnected else { return }
        await announce(reader.name)
        publishInfo()
    }

    func note(_ reader: FleetName, isAvailable: Bool, reason: String?) {
        states[reader]?.isAvailable = isAvailable
        let text = isAvailable ? "The reader \(reader) works." : "The reader \(reader) does not work. \(reason ?? "")"
        log(isAvailable ? "available" : "unavailable", text, [.init("reader", .string(reader.text))])
        guard outbox.isConnected else { return }
        publish(settings.topics.availability(node, reader), AgentState.bytes(isAvailable), isRetained: true)
        publishInfo()
    }

    /// Records which tags are on a reader.
    func note(_ reader: FleetName, tags: JSONValue) {
        guard self.tags[reader] != tags else { return }
        self.tags[reader] = tags
        publishTags(of: reader)
    }

    func event(of report: TagReport, at reader: FleetName) async -> FleetEvent {
        let names = naming.names(of: report.identifier, message: report.ndefStatus.message)
        var members = names.members + report.members
        if let link = report.ndefStatus.message.flatMap({ settings.links?.json($0) }) {
            members.append(.init("link", link))
        }
        if let isAllowed = await jobs.allows(report.identifier, at: reader) {
            members.append(.init("allowed", .bool(isAllowed)))
        }
        return FleetEvent(.tag, time: Timestamp.now, subject: names.subject, members: members)
    }

    /// Stores a reader's events. Returns the ID of the last event; nil if it could not be stored.
    func store(_ events: [FleetEvent], of reader: FleetName) async -> String? {
        let places = takeAcknowledged()
        do throws(SpoolError) {
            let stored = try await spool.append(events.map { (reader, $0) }, acknowledging: places)
            hasFailedToFlush = false
            await keepUnstored(stored.events)
            sendOrPump(stored)
            // `lookForRoom` checks whether there is space again.
            if let shortage = stored.shortage { noteRoom(shortage) }
            guard stored.hasLast, let last = stored.events.last else { return nil }
            return EventPosition(stream: spool.stream, node: node, reader: reader, sequence: last.sequence).id
        } catch {
            keepAcknowledged(places)
            log("spool", "An event was not stored. \(error.reason)", [.init("code", .string(error.code.description))])
            if error.code == .diskFull { noteRoom(.disk) }
            return nil
        }
    }
}
