// SPDX-License-Identifier: Apache-2.0
package import FleetAgent
package import FleetMQTT
package import FleetModel
package import FleetSpool
import NFCSessions
import TagLink
package import VirtualTags

/// An agent in the test's own process, with one reader in memory.
package final class TestNode: Sendable {
    package let agent: Agent
    package let spool: Spool
    package let field: VirtualField
    package let name: FleetName
    package let reader: FleetName

    /// Starts an agent.
    ///
    /// - Parameters:
    ///   - address: its broker, which need not be there.
    ///   - folder: the folder of its spool.
    ///   - isOnLoop: whether the reader works on the agent's own thread.
    ///   - readerDelay: how long it takes until the reader is found.
    ///   - change: changes its settings.
    package init(
        _ address: BrokerAddress,
        folder: String,
        name: String = "kiosk-7",
        reader: String = "entrance",
        spool spoolSettings: SpoolSettings = SpoolSettings(),
        field: VirtualField = VirtualField(),
        isOnLoop: Bool = false,
        readerDelay: Duration = .zero,
        _ change: (inout AgentSettings) -> Void = { _ in },
        broker changeBroker: (inout MQTTSettings) -> Void = { _ in }
    ) async throws {
        guard let name = FleetName(name), let reader = FleetName(reader) else {
            throw TestProblem("The name is wrong.")
        }
        (self.name, self.reader, self.field) = (name, reader, field)
        spool = try Spool(folder: folder, node: name, settings: spoolSettings)
        var settings = AgentSettings()
        settings.removalDelay = .milliseconds(50)
        change(&settings)
        var broker = MQTTSettings(address: address, client: "opencorenfc-\(name)")
        changeBroker(&broker)
        agent = Agent(settings, broker: broker, spool: spool)
        let environment = NFCEnvironment(reader: .field(field))
        let place = isOnLoop ? LoopActor(settings.loop) : nil
        let station = StationReader(name: reader, reader: "virtual", environment: environment, place: place)
        try await agent.start { [agent] in
            if readerDelay > .zero { try? await Task.sleep(for: readerDelay) }
            await agent.add(station)
        }
    }

    package func stop() async { await agent.stop() }
}

/// Makes tags.
package enum TestTags {
    /// An NTAG213 with a UID that ends with a number.
    package static func ntag213(_ number: UInt8, message: [UInt8] = []) -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xE1, 0x5A, number, 0x71, 0xFA, 0x80])
        if !message.isEmpty {
            let bytes = [0x03, UInt8(message.count)] + message + [0xFE]
            contents.memory.replaceSubrange(21..<21 + bytes.count, with: bytes)
        }
        return VirtualType2Tag(contents)
    }

    /// A Type 5 tag whose UID ends with a number, and whose blocks have a size that the NFC Forum does not know.
    package static func unreadable(_ number: UInt8) -> VirtualType5Tag {
        let product = Type5Product.generic(blockCount: 32, blockSize: 12)
        let uid: [UInt8] = Type5Contents.defaultUID(product).dropLast() + [number]
        return VirtualType5Tag(Type5Contents(blank: product, uid: uid))
    }

    /// An ICODE whose UID ends with a number, and whose capability container grants nobody to read.
    package static func readProtected(_ number: UInt8) -> VirtualType5Tag {
        let product = Type5Product.icodeSLIX2
        var contents = Type5Contents(blank: product, uid: Type5Contents.defaultUID(product).dropLast() + [number])
        contents.memory[1] |= 0x0C
        return VirtualType5Tag(contents)
    }
}
