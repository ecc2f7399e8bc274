// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import NFCSessions
import TagProtocols

/// A tag that a session found, as the app sees it: the common part of the four technologies, and the whole object for a
/// tag of any other kind.
class TagObject: NSObject, NFCNDEFTag, @unchecked Sendable {
    // Sendable because its own properties are constant, and the session is a weak reference that is never changed;
    // subclasses lock their state.
    let handle: ConnectableTag
    let channel: any TagCommandChannel
    let configuration: AppConfiguration
    /// Where completion handlers are called.
    let queue: DispatchQueue
    private let owner: WeakBox

    init(_ surroundings: TagSurroundings) {
        handle = surroundings.handle
        channel = surroundings.channel
        configuration = surroundings.configuration
        queue = surroundings.queue
        owner = WeakBox(surroundings.session)
    }

    var session: (any NFCReaderSessionProtocol)? { owner.object as? NFCReaderSession }

    /// The tag as a phone prints it, with the name of its kind.
    override var description: String {
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "<\(kind): 0x\(String(address, radix: 16))>"
    }

    /// The name that a phone prints for the kind.
    var kind: String { "NFCNDEFTag" }

    var isAvailable: Bool { handle.isConnected }

    /// The historical bytes of the ATS of a Type A card; nil when it has none.
    var historicalBytes: Data? {
        guard let bytes = handle.answerToSelect?.historicalBytes, !bytes.isEmpty else { return nil }
        return Data(bytes)
    }

    /// Calls a completion handler.
    func call(_ work: @escaping @Sendable () -> Void) {
        handle.session.environment.call(on: queue, work)
    }

    // MARK: NSCopying, NSSecureCoding

    func copy(with zone: NSZone?) -> Any { self }

    class var supportsSecureCoding: Bool { true }

    /// Does nothing: a tag object stands for a tag in the field and can't be stored.
    func encode(with coder: NSCoder) {}

    required init?(coder: NSCoder) { nil }
}
