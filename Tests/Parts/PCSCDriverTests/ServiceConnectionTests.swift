// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver

/// Checks how the connection to the service is opened, limited and closed.
@Suite("The connection to the service")
struct ServiceConnectionTests {
    /// A limit in milliseconds that no test meets.
    private static let long = 600_000

    private static func connection(
        _ service: ScriptedService,
        call: Int = long,
        look: Int = long,
        silence: Int = long
    ) -> ServiceConnection {
        ServiceConnection(
            layer: service,
            limits: CallLimits(call: call, look: look, absence: long, silence: silence)
        )
    }

    private static func service() -> ScriptedService { SampleCards.service(SampleCards.cardAnswer, table: [:]) }

    @Test(
        "is given up at the shortest limit: that of the caller, of a look at the readers, or of any call",
        arguments: [
            (30, 600_000, 600_000), (nil, 30, 600_000), (600_000, 30, 600_000), (nil, 600_000, 30),
            (600_000, 600_000, 30),
        ] as [(Int?, Int, Int)]
    )
    func limits(within: Int?, look: Int, call: Int) {
        let service = Self.service()
        service.change { $0.hanging = [.establish] }
        let connection = Self.connection(service, call: call, look: look)
        let error = #expect(throws: SmartCardError.self) { _ = try connection.readers(within: within) }
        #expect(error?.code == .timeout)
    }

    @Test("is opened once, and again when it was closed or lost; only a service that is gone is a loss")
    func opening() throws {
        let service = Self.service()
        let connection = Self.connection(service)
        for _ in 0..<2 { #expect(try connection.readers().map(\.reader) == [SampleCards.name]) }
        let first = service.look(\.contexts)
        #expect(first.count == 1)
        connection.close()
        #expect(service.look { $0.contexts.isEmpty })
        connection.close()
        _ = try connection.readers()
        #expect(service.look(\.contexts).count == 1 && service.look(\.contexts).isDisjoint(with: first))
        #expect(connection.losses == 0)
        service.change { $0.isRunning = false }
        // The connection is lost at the first call; at the second there is none.
        for _ in 0..<2 {
            #expect(throws: SmartCardError(.noService, "")) { try connection.readers() }
            #expect(service.look { $0.contexts.isEmpty } && connection.losses == 1)
        }
        service.change { $0.isRunning = true }
        #expect(try connection.readers().count == 1)
    }

    @Test("of a service without readers asks for the state of none")
    func noReaders() throws {
        let service = ScriptedService()
        #expect(try Self.connection(service).readers().isEmpty)
        #expect(service.look(\.looks) == 0)
    }

    @Test("is let go of at once while calls are not allowed, however the service takes it")
    func interrupted() throws {
        let service = Self.service()
        let connection = Self.connection(service)
        _ = try connection.readers()
        service.change { $0.hanging = [.release] }
        connection.interrupt()
        #expect(throws: SmartCardError(.cancelled, "")) { try connection.readers() }
        #expect(service.look { $0.contexts.isEmpty && $0.abandoned.count == 1 })
        #expect(!connection.wasSilent && connection.losses == 0)
        service.change { $0.hanging = [] }
        #expect(throws: SmartCardError(.cancelled, "")) { try connection.readers() }
        connection.resume()
        #expect(try connection.readers().count == 1)
    }

    @Test("knows for a while that the service did not answer to its release", arguments: [(600_000, true), (0, false)])
    func silence(milliseconds: Int, isKnown: Bool) throws {
        let service = Self.service()
        let connection = Self.connection(service, silence: milliseconds)
        _ = try connection.readers()
        #expect(!connection.wasSilent)
        service.change { $0.hanging = [.release] }
        connection.close()
        #expect(connection.wasSilent == isKnown)
        #expect(service.look { $0.contexts.isEmpty })
        service.change { $0.hanging = [] }
        #expect(try connection.readers().count == 1)
    }

    @Test("is not needed for a pause, which an interruption ends")
    func pause() throws {
        let service = Self.service()
        let connection = Self.connection(service)
        try connection.pause(milliseconds: 1)
        connection.interrupt()
        #expect(throws: SmartCardError(.cancelled, "")) { try connection.pause(milliseconds: Self.long) }
        connection.resume()
        try connection.pause(milliseconds: 0)
        #expect(service.look { $0.contexts.isEmpty && $0.abandoned.isEmpty })
    }

    @Test("ends a call that takes too long, also after a pause")
    func pauseBeforeCall() throws {
        let service = Self.service()
        let connection = Self.connection(service)
        _ = try connection.readers()
        try connection.pause(milliseconds: 1)
        service.change { $0.hanging = [.connect] }
        let error = #expect(throws: SmartCardError.self) {
            try connection.call(within: 30) { layer, context throws(SmartCardError) in
                _ = try layer.connect(context, reader: SampleCards.name, .direct)
            }
        }
        #expect(error?.code == .timeout)
        #expect(service.look(\.abandoned).count == 1)
    }

    @Test("that is released is closed")
    func release() throws {
        let service = Self.service()
        _ = try Self.connection(service).readers()
        #expect(service.look { $0.contexts.isEmpty && $0.looks == 1 })
    }
    @Test("that is released is cut where the service does not answer")
    func silentRelease() throws {
        let service = Self.service()
        do {
            let connection = Self.connection(service)
            _ = try connection.readers()
            service.change { $0.hanging = [.release] }
            withExtendedLifetime(connection) {}
        }
        #expect(service.look { $0.contexts.isEmpty && $0.abandoned.count == 1 })
    }
}
