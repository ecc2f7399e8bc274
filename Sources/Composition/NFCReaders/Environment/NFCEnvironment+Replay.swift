// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
public import TagTrace

extension NFCEnvironment {
    /// The recording that serves as the reader; nil where the reader is another one.
    public var replay: RecordingReplay? { (driver as? any ReplayingDriver)?.replay }
}
