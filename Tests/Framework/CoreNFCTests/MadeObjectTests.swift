// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Checks what a test kit learns of the objects that an app makes, so that it can say which are never freed.
@Suite(.timeLimit(.minutes(1))) struct `The objects of an app's session` {
    /// A test kit's place, which keeps what it learns.
    private final class Place: TestPlace {
        private let objects = Locked<[(kind: MadeObject, object: ObjectIdentifier)]>([])
        private let count = Locked(0)
        var kinds: [MadeObject] { objects.withLock { $0.map { $0.kind } } }
        var identifiers: [ObjectIdentifier] { objects.withLock { $0.map { $0.object } } }
        /// How many times the app was about to connect to a tag.
        var connections: Int { count.withLock { $0 } }

        func made(_ object: AnyObject, as kind: MadeObject) {
            let object = ObjectIdentifier(object)
            objects.withLock { $0.append((kind, object)) }
        }

        func willConnect() { count.withLock { $0 += 1 } }
        func prints(_ notice: String) -> Bool { false }
    }

    @Test func `A test kit learns of the session, its delegate and its tags, and of each connection`() async throws {
        let field = VirtualField()
        field.bring(TestTag.ntag213(uri: "https://example.com/a"))
        let place = Place()
        let environment = NFCEnvironment(reader: .field(field), clock: ManualClock(), place: place)
        try await NFCEnvironment.$scoped.withValue(environment) {
            let found = try await FoundTags()
            #expect(place.kinds == [.session, .delegate, .tag])
            let own = [ObjectIdentifier(found.session), ObjectIdentifier(found.delegate)]
            #expect(Array(place.identifiers.prefix(2)) == own)
            #expect(place.connections == 0)
            for count in 1...2 {
                try await found.session.connect(to: found.tag)
                #expect(place.connections == count)
            }
            found.session.invalidate()
        }
    }
}
