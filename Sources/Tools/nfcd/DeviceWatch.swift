// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Glibc
import LinuxSupport

/// Follows the cameras and the radio switches, which report changes.
final class DeviceWatch {
    /// How long to wait after the last of several changes before checking. So a program that opens and closes a camera
    /// all the time costs little.
    private static let settling = DispatchTimeInterval.milliseconds(200)

    private(set) var isCameraOpen: Bool?
    private(set) var radios: RadioSwitches?
    private let onChange: () -> Void
    private var files: FileWatch?
    private var radioWatch: ReadWatch?
    private var isWaiting = false
    private var lastLook = DispatchTime(uptimeNanoseconds: 0)

    init(onChange: @escaping () -> Void) {
        self.onChange = onChange
        files = FileWatch { [weak self] in self?.filesChanged() }
        look()
    }

    private func filesChanged() {
        let next = lastLook + Self.settling
        guard DispatchTime.now() < next else { return look() }
        guard !isWaiting else { return }
        isWaiting = true
        DispatchQueue.main.asyncAfter(deadline: next) { [weak self] in
            MainActor.assumeIsolated {
                self?.isWaiting = false
                self?.look()
            }
        }
    }

    private func look() {
        lastLook = .now()
        // Before the look, so that what comes meanwhile is not missed.
        files?.add(SystemFiles.path("/dev"), Int32(IN_CREATE | IN_DELETE | IN_ATTRIB))
        let cameras = SystemFiles.cameras
        for camera in cameras { files?.add(camera, Int32(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)) }
        isCameraOpen = cameras.isEmpty ? nil : SystemFiles.isOpen(cameras)
        openRadios()
        onChange()
    }

    private func openRadios() {
        guard radioWatch == nil else { return }
        let descriptor = unsafe open(SystemFiles.path("/dev/rfkill"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        radios = RadioSwitches()
        // Not a DispatchSource: on Linux, one whose device disappears can crash the process.
        radioWatch = ReadWatch(descriptor, queue: .main) { [weak self] in
            MainActor.assumeIsolated { self?.readRadios(descriptor) ?? false }
        } onClose: {
            close(descriptor)
        }
        guard radioWatch != nil else {
            close(descriptor)
            return
        }
        readRadios(descriptor, isFirst: true)
    }

    /// Each read returns one event. Newer systems have events longer than the requested size.
    ///
    /// - Returns: false when the device has disappeared.
    @discardableResult
    private func readRadios(_ descriptor: CInt, isFirst: Bool = false) -> Bool {
        var event = [UInt8](repeating: 0, count: RadioSwitches.eventSize)
        var count: Int
        repeat {
            count = unsafe read(descriptor, &event, event.count)
            if count == event.count { radios?.take(event) }
        } while count == event.count
        guard !isFirst else { return true }
        if count == 0 { (radioWatch, radios) = (nil, nil) }
        onChange()
        return count != 0
    }
}
