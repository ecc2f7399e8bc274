// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
import Glibc

/// The app's side on the bus: has the app's name there, and takes its links from the user's own programs.
///
/// Whoever asks for the name later does not get it while the app runs.
///
/// It is made by one thread and then run by one thread.
public final class DeliveryService: @unchecked Sendable {
    // Sendable because nothing of it changes, and the bus is touched only while it is made and then by who runs it.

    /// What takes a link, and says whether it was handled. Called on the thread of ``run(isStopped:)``.
    public typealias Handler = @Sendable (UserActivityPayload) -> Bool

    private let bus: UserBus
    private let handler: Handler

    /// Takes the app's name.
    ///
    /// - Parameters:
    ///   - desktopID: the name of the app's desktop entry, which is the name on the bus.
    ///   - address: where the bus is; nil is that of this process.
    ///   - handler: takes each link.
    /// - Throws: ``BusError``; of code `nameTaken` when the app runs already.
    public init(desktopID: String, address: String? = nil, handler: @escaping Handler) throws(BusError) {
        guard let path = DeliveryInterface.objectPath(of: desktopID) else {
            throw BusError(.nobody, "\(desktopID) can't be the name of an app on the bus.")
        }
        bus = try UserBus(address: address)
        self.handler = handler
        // The service outlives the object: the bus is closed when this goes.
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        let added = unsafe bus.library.addObject(bus.bus, nil, path, answerDelivery, own)
        guard added >= 0 else { throw BusError(number: added, "The object \(path) can't be made") }
        let named = unsafe bus.library.requestName(bus.bus, desktopID, 0)
        guard named >= 0 else { throw BusError(number: named, "The name \(desktopID) can't be had") }
    }

    /// Takes links until the bus is gone, or as long as it is to.
    ///
    /// - Parameter isStopped: asked at least every second; true ends it.
    public func run(isStopped: () -> Bool = { false }) throws(BusError) {
        while !isStopped() {
            let number = unsafe bus.library.process(bus.bus, nil)
            if number < 0 { throw BusError(number: number, "The bus is gone") }
            if number > 0 { continue }
            // A signal that came meanwhile is no failure.
            _ = unsafe bus.library.wait(bus.bus, 1_000_000)
        }
    }

    /// Answers a message to the app's object.
    ///
    /// - Returns: a number above zero when it was answered, zero when it is none of this interface.
    fileprivate func answer(_ message: OpaquePointer?) -> CInt {
        let library = bus.library
        let method = DeliveryInterface.method
        guard unsafe library.isCall(message, DeliveryInterface.name, method) > 0 else { return 0 }
        // A bus may let others in: those of another user can't make the app open anything.
        guard let sender = unsafe library.sender(message), let name = unsafe String(validatingCString: sender),
            bus.isOwn(name)
        else {
            return -EACCES
        }
        let reader = unsafe BusMessageReader(library: library, message: message)
        guard reader.hasSignature(DeliveryInterface.argumentSignature), let type = reader.string(),
            let url = reader.string(), let octets = reader.octets()
        else {
            return -EINVAL
        }
        let payload: UserActivityPayload
        do throws(UserActivityPayload.Problem) {
            payload = try UserActivityPayload(activityType: type, webpageURL: url, message: octets)
        } catch {
            return -EINVAL
        }
        var answer: OpaquePointer?
        let made = unsafe library.newAnswer(message, &answer)
        guard made >= 0 else { return made }
        defer { _ = unsafe library.unrefMessage(answer) }
        var writer = unsafe BusMessageWriter(library: library, message: answer)
        writer.boolean(handler(payload))
        guard writer.status >= 0 else { return writer.status }
        let sent = unsafe library.send(bus.bus, answer, nil)
        return sent < 0 ? sent : 1
    }
}

/// What sd-bus calls; a function, because it may not be bound to an actor.
nonisolated private func answerDelivery(
    _ message: OpaquePointer?,
    _ own: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> CInt {
    guard let own = unsafe own else { return 0 }
    return unsafe Unmanaged<DeliveryService>.fromOpaque(own).takeUnretainedValue().answer(message)
}
