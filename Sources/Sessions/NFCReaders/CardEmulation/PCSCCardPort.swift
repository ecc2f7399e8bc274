// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import NFCSessions
import ReaderEmulation
import TagLink
import TextSafety

/// An emulated pcscd reader that contains the app's card, so that PC/SC programs can use the app as a card.
///
/// pcscd needs the package's driver and the configuration that `nfc emulate --pcsc` prints. The socket is created for
/// the first card, and exists until the process ends.
final class PCSCCardPort: CardReaderPort {
    private struct State {
        var server: ReaderServer?
        var card: (any EmulatedCard)?
        var isEmulating = false
    }

    /// Reports the reader's actions to the card.
    let reader = VirtualCardReader()
    /// The handlers to call whenever a card may have arrived or left.
    let observers = PresenceObservers()
    private let path: String?
    private let makeServer: @Sendable (PCSCCardPort) throws(EmulationError) -> ReaderServer
    private let state = Locked(State())

    /// Creates a port.
    ///
    /// - Parameter path: the reader's socket, in a folder that belongs to the user; nil for the usual path.
    init(
        path: String?,
        makeServer: @escaping @Sendable (PCSCCardPort) throws(EmulationError) -> ReaderServer = {
            (port) throws(EmulationError) in try port.listen()
        }
    ) {
        self.path = path
        self.makeServer = makeServer
    }

    var hasCard: Bool { state.withLock { $0.isEmulating } }

    // MARK: CardReaderPort

    func attach(_ card: any EmulatedCard) -> Bool {
        // If several cards are attached at the same time, only the card that the reader accepts creates the socket.
        guard reader.attach(card) else { return false }
        guard start() else {
            reader.detach(card)
            return false
        }
        state.withLock { $0.card = card }
        return true
    }

    func detach(_ card: any EmulatedCard) {
        let isAttached = state.withLock { state in
            guard state.card === card else { return false }
            (state.card, state.isEmulating) = (nil, false)
            return true
        }
        guard isAttached else { return }
        reader.detach(card)
        observers.notify()
    }

    func setEmulating(_ isEmulating: Bool) {
        // The order matters: an interrupted command must find no card, and a host that finds a card must be able to use
        // it.
        if !isEmulating { state.withLock { $0.isEmulating = false } }
        reader.setEmulating(isEmulating)
        if isEmulating { state.withLock { $0.isEmulating = true } }
        observers.notify()
    }

    private func socketLocation() throws(EmulationError) -> (name: String, folder: PrivateFolder) {
        guard let path else {
            if let folder = PCSCInstallation.defaultFolder() { return (PCSCInstallation.socketName, folder) }
            throw EmulationError(
                "The folder for the card's reader is missing. Name its socket: NFC_CARD_READER=pcsc:/FOLDER/reader.sock"
            )
        }
        guard let parts = PathParts(path), path.hasPrefix("/"), parts.folder != "/" else {
            throw EmulationError("NFC_CARD_READER=pcsc:SOCKET needs an absolute path in a folder that you own.")
        }
        do throws(StorageError) {
            return (parts.name, try PrivateFolder(parts.folder, guests: .mayRead))
        } catch {
            throw EmulationError(error.reason)
        }
    }

    func listen() throws(EmulationError) -> ReaderServer {
        let location = try socketLocation()
        return try ReaderServer(
            location.name,
            in: location.folder,
            reader: AppCardReader(port: self),
            observePresence: observers.add
        )
    }

    /// Creates the socket, once.
    private func start() -> Bool {
        if state.withLock({ $0.server != nil }) { return true }
        do throws(EmulationError) {
            let server = try makeServer(self)
            state.withLock { $0.server = server }
            _ = server.start()
            return true
        } catch {
            OutputDescriptor.standardError.write("\(VisibleText.escaped(error.reason))\n")
            return false
        }
    }
}

struct AppCardReader: ReaderFirmware {
    /// An ATR with T=0 and T=1, without historical bytes (PC/SC 2.01 part 3, 3.1.3.2.3.1).
    private static let answerToReset: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]

    // Weak, because the port owns the server, and the server owns the reader.
    private weak let port: PCSCCardPort?
    private let answerLimit: Duration
    private var isPresent = false
    /// Whether the current host has sent commands since the card was powered.
    private var isUsed = false
    /// A random UID, as phones use (ISO/IEC 14443-3, 6.5.4).
    private var uid: [UInt8] = []

    /// Creates a reader.
    ///
    /// - Parameter answerLimit: how long an app may take to answer. The default is shorter than the driver's own limit,
    ///   so that the driver still gets an answer from this reader.
    init(port: PCSCCardPort, answerLimit: Duration = .seconds(25)) {
        self.port = port
        self.answerLimit = answerLimit
    }

    mutating func look() async -> EmulatedReader.Change {
        let hasCard = port?.hasCard ?? false
        defer { isPresent = hasCard }
        if hasCard, !isPresent { uid = [0x08] + (0..<3).map { _ in UInt8.random(in: 0...0xFF) } }
        return EmulatedReader.Change(hasLost: isPresent && !hasCard, hasFound: hasCard && !isPresent)
    }

    mutating func hostConnected() async -> EmulatedReader.Change {
        isPresent = false
        isUsed = false
        port?.reader.approach()
        return await look()
    }

    mutating func hostDisconnected() { port?.reader.leave() }

    mutating func setPower(_ power: EmulatedReader.Power) async -> EmulatedReader.Reply {
        guard let port else { return .noCard }
        // pcscd switches off the power of an unused card; the app is not informed about this. A used card loses its
        // selection, but stays in the reader's field.
        if power != .up, isUsed {
            isUsed = false
            Self.restart(port.reader)
        }
        if power == .down { return .done([]) }
        return isPresent && port.hasCard ? .done(Self.answerToReset) : .noCard
    }

    mutating func transmit(_ apdu: [UInt8]) async -> EmulatedReader.Reply {
        guard let port, isPresent else { return .noCard }
        if apdu.first == 0xFF {
            return .done(apdu.prefix(4) == [0xFF, 0xCA, 0x00, 0x00] ? uid + [0x90, 0x00] : [0x6A, 0x81])
        }
        isUsed = true
        // After this time, the reader stops waiting for the app, as a payment terminal would.
        let limit = Task { [answerLimit] in
            try await Task.sleep(for: answerLimit)
            Self.restart(port.reader)
        }
        defer { limit.cancel() }
        guard let answer = try? await port.reader.transmit(apdu) else { return port.hasCard ? .failed : .noCard }
        return .done(answer)
    }

    /// Moves the reader away for a moment, so that the card loses its selection and an unanswered command fails.
    private static func restart(_ reader: VirtualCardReader) {
        reader.leave()
        reader.approach()
    }

    mutating func control(_ code: UInt32, _ data: [UInt8]) async -> EmulatedReader.Reply { .unsupported }

    func attribute(_ tag: UInt32) -> EmulatedReader.Reply { .unsupported }
}
