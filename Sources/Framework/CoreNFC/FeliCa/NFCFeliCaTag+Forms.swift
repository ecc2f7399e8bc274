// SPDX-License-Identifier: Apache-2.0
public import Foundation

// These forms are extensions, not requirements, because clients write their own tag classes.
extension NFCFeliCaTag {
    /// Selects a system of the card (Polling, 0x00). Then ``currentIDm`` and ``currentSystemCode`` are those of that
    /// system.
    ///
    /// - Parameters:
    ///   - systemCode: the system code: two bytes, most significant first, neither of them `FF`. The app's property
    ///     list has to list it.
    ///   - requestCode: what else to request from the card.
    ///   - timeSlot: the number of time slots in which cards may answer.
    /// - Returns: the manufacture parameter (PMm), and the requested data (empty for none).
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func polling(
        systemCode: Data,
        requestCode: NFCFeliCaPollingRequestCode,
        timeSlot: NFCFeliCaPollingTimeSlot
    ) async throws -> (Data, Data) {
        try await withCompletion { continuation in
            polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot) { parameter, data, error in
                continuation.resume(with: (parameter, data), error)
            }
        }
    }

    /// Asks for the key versions of nodes (Request Service, 0x02).
    ///
    /// - Parameter nodeCodeList: the nodes, 1 to 32: two bytes each, least significant first.
    /// - Returns: the key version of each node: two bytes, least significant first; `FFFF` for a node that the card
    ///   does not have.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func requestService(nodeCodeList: [Data]) async throws -> [Data] {
        try await withCompletion { continuation in
            requestService(nodeCodeList: nodeCodeList) { versions, error in
                continuation.resume(with: versions, error)
            }
        }
    }

    /// Checks that the card is there, and returns its mode (Request Response, 0x04).
    ///
    /// - Returns: the mode, 0 to 3.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func requestResponse() async throws -> Int {
        try await withCompletion { continuation in
            requestResponse { mode, error in
                continuation.resume(with: mode, error)
            }
        }
    }

    /// Reads blocks of services that need no authentication (Read Without Encryption, 0x06). The call succeeds whatever
    /// the status flags are: check them.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two bytes each, least significant first.
    ///   - blockList: the block list elements, two or three bytes each.
    /// - Returns: the two status flags, and the blocks of 16 bytes (none when the first flag is not 0).
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func readWithoutEncryption(serviceCodeList: [Data], blockList: [Data]) async throws -> (Int, Int, [Data]) {
        try await withCompletion { continuation in
            readWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList) {
                flag1,
                flag2,
                blocks,
                error in
                continuation.resume(with: (flag1, flag2, blocks), error)
            }
        }
    }

    /// Writes blocks of services that need no authentication (Write Without Encryption, 0x08). The call succeeds
    /// whatever the status flags are: check them.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two bytes each, least significant first.
    ///   - blockList: the block list elements, two or three bytes each.
    ///   - blockData: the blocks, 16 bytes each, one for each element of the list.
    /// - Returns: the two status flags.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data]
    ) async throws -> (Int, Int) {
        try await withCompletion { continuation in
            writeWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList, blockData: blockData) {
                flag1,
                flag2,
                error in
                continuation.resume(with: (flag1, flag2), error)
            }
        }
    }

    /// Asks which systems the card has (Request System Code, 0x0C).
    ///
    /// - Returns: the system codes: two bytes each, most significant first.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func requestSystemCode() async throws -> [Data] {
        try await withCompletion { continuation in
            requestSystemCode { codes, error in
                continuation.resume(with: codes, error)
            }
        }
    }

    /// Asks for the key versions of nodes of a card with AES (Request Service v2, 0x32).
    ///
    /// - Parameter nodeCodeList: the nodes, 1 to 32: two bytes each, least significant first.
    /// - Returns: the two status flags, the kind of encryption, and the key versions for AES and DES.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func requestServiceV2(
        nodeCodeList: [Data]
    ) async throws -> (Int, Int, NFCFeliCaEncryptionId, [Data], [Data]) {
        try await withCompletion { continuation in
            requestServiceV2(nodeCodeList: nodeCodeList) { flag1, flag2, encryption, aes, des, error in
                continuation.resume(with: (flag1, flag2, encryption, aes, des), error)
            }
        }
    }

    /// Asks for the version of the card's operating system (Request Specification Version, 0x3C).
    ///
    /// - Returns: the two status flags, and the versions of the basic specification and of the options (empty for what
    ///   the card does not report).
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func requestSpecificationVersion() async throws -> (Int, Int, Data, Data) {
        try await withCompletion { continuation in
            requestSpecificationVersion { flag1, flag2, basic, option, error in
                continuation.resume(with: (flag1, flag2, basic, option), error)
            }
        }
    }

    /// Sets the card's mode to 0 (Reset Mode, 0x3E).
    ///
    /// - Returns: the two status flags.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func resetMode() async throws -> (Int, Int) {
        try await withCompletion { continuation in
            resetMode { flag1, flag2, error in
                continuation.resume(with: (flag1, flag2), error)
            }
        }
    }

    /// Sends a command that the caller builds.
    ///
    /// - Parameter commandPacket: the packet from the command code on, at most 254 bytes. The framework adds the length
    ///   and the checksum.
    /// - Returns: the answer, which begins with its length as on a phone.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func sendFeliCaCommand(commandPacket: Data) async throws -> Data {
        try await withCompletion { continuation in
            sendFeliCaCommand(commandPacket: commandPacket) { data, error in
                continuation.resume(with: data, error)
            }
        }
    }
}

// These forms are extensions, not requirements, because clients write their own tag classes.
extension NFCFeliCaTag {
    /// Selects a system of the card (Polling, 0x00). Then ``currentIDm`` and ``currentSystemCode`` are those of that
    /// system.
    ///
    /// - Parameters:
    ///   - systemCode: the system code: two bytes, most significant first, neither of them `FF`. The app's property
    ///     list has to list it.
    ///   - requestCode: what else to request from the card.
    ///   - timeSlot: the number of time slots in which cards may answer.
    ///   - resultHandler: called on the session's queue with the manufacture parameter (PMm) and the requested data
    ///     (nil for none), or with an ``NFCReaderError``.
    @preconcurrency
    public func polling(
        systemCode: Data,
        requestCode: NFCFeliCaPollingRequestCode,
        timeSlot: NFCFeliCaPollingTimeSlot,
        resultHandler: @escaping @Sendable (Result<NFCFeliCaPollingResponse, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot) { parameter, data, error in
            handler.call(
                NFCFeliCaPollingResponse(manufactureParameter: parameter, requestData: data.isEmpty ? nil : data),
                error
            )
        }
    }

    /// Asks for the key versions of nodes (Request Service, 0x02).
    ///
    /// - Parameters:
    ///   - nodeCodeList: the nodes, 1 to 32: two bytes each, least significant first.
    ///   - resultHandler: called on the session's queue with the key version of each node, or with an
    ///     ``NFCReaderError``. A key version has two bytes, least significant first; it is `FFFF` for a node that the
    ///     card does not have.
    @preconcurrency
    public func requestService(
        nodeCodeList: [Data],
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        requestService(nodeCodeList: nodeCodeList) { versions, error in
            handler.call(versions, error)
        }
    }

    /// Checks that the card is there, and returns its mode (Request Response, 0x04).
    ///
    /// - Parameter resultHandler: called on the session's queue with the mode (0 to 3), or with an ``NFCReaderError``.
    @preconcurrency
    public func requestResponse(resultHandler: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        let handler = ResultHandler(resultHandler)
        requestResponse { mode, error in
            handler.call(mode, error)
        }
    }

    /// Reads blocks of services that need no authentication (Read Without Encryption, 0x06). The call succeeds whatever
    /// the status flags are: check them.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two bytes each, least significant first.
    ///   - blockList: the block list elements, two or three bytes each.
    ///   - resultHandler: called on the session's queue with the two status flags and the blocks of 16 bytes (none when
    ///     the first flag is not 0), or with an ``NFCReaderError``.
    @preconcurrency
    public func readWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        resultHandler: @escaping @Sendable (Result<(NFCFeliCaStatusFlag, [Data]), any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        readWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList) { flag1, flag2, blocks, error in
            handler.call((NFCFeliCaStatusFlag(statusFlag1: flag1, statusFlag2: flag2), blocks), error)
        }
    }

    /// Writes blocks of services that need no authentication (Write Without Encryption, 0x08). The call succeeds
    /// whatever the status flags are: check them.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two bytes each, least significant first.
    ///   - blockList: the block list elements, two or three bytes each.
    ///   - blockData: the blocks, 16 bytes each, one for each element of the list.
    ///   - resultHandler: called on the session's queue with the two status flags, or with an ``NFCReaderError``.
    @preconcurrency
    public func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data],
        resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        writeWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList, blockData: blockData) {
            flag1,
            flag2,
            error in
            handler.call(NFCFeliCaStatusFlag(statusFlag1: flag1, statusFlag2: flag2), error)
        }
    }

    /// Asks which systems the card has (Request System Code, 0x0C).
    ///
    /// - Parameter resultHandler: called on the session's queue with the system codes (two bytes each, most significant
    ///   first), or with an ``NFCReaderError``.
    @preconcurrency
    public func requestSystemCode(resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void) {
        let handler = ResultHandler(resultHandler)
        requestSystemCode { codes, error in
            handler.call(codes, error)
        }
    }

    /// Asks for the key versions of nodes of a card with AES (Request Service v2, 0x32).
    ///
    /// - Parameters:
    ///   - nodeCodeList: the nodes, 1 to 32: two bytes each, least significant first.
    ///   - resultHandler: called on the session's queue with the two status flags, the kind of encryption, and the key
    ///     versions for AES and DES, or with an ``NFCReaderError``.
    @preconcurrency
    public func requestServiceV2(
        nodeCodeList: [Data],
        resultHandler: @escaping @Sendable (Result<NFCFeliCaRequsetServiceV2Response, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        requestServiceV2(nodeCodeList: nodeCodeList) { flag1, flag2, encryption, aes, des, error in
            handler.call(
                NFCFeliCaRequsetServiceV2Response(
                    statusFlag1: flag1,
                    statusFlag2: flag2,
                    encryptionIdentifier: encryption,
                    nodeKeyVersionListAES: aes,
                    nodeKeyVersionListDES: des
                ),
                error
            )
        }
    }

    /// Asks for the version of the card's operating system (Request Specification Version, 0x3C).
    ///
    /// - Parameter resultHandler: called on the session's queue with the two status flags and the versions of the basic
    ///   specification and of the options (empty for what the card does not report), or with an ``NFCReaderError``.
    @preconcurrency
    public func requestSpecificationVersion(
        resultHandler: @escaping @Sendable (Result<NFCFeliCaRequestSpecificationVersionResponse, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        requestSpecificationVersion { flag1, flag2, basic, option, error in
            handler.call(
                NFCFeliCaRequestSpecificationVersionResponse(
                    statusFlag1: flag1,
                    statusFlag2: flag2,
                    basicVersion: basic,
                    optionVersion: option
                ),
                error
            )
        }
    }

    /// Sets the card's mode to 0 (Reset Mode, 0x3E).
    ///
    /// - Parameter resultHandler: called on the session's queue with the two status flags, or with an
    ///   ``NFCReaderError``.
    @preconcurrency
    public func resetMode(resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void) {
        let handler = ResultHandler(resultHandler)
        resetMode { flag1, flag2, error in
            handler.call(NFCFeliCaStatusFlag(statusFlag1: flag1, statusFlag2: flag2), error)
        }
    }

    /// Sends a command that the caller builds.
    ///
    /// - Parameters:
    ///   - commandPacket: the packet from the command code on, at most 254 bytes. The framework adds the length and the
    ///     checksum.
    ///   - resultHandler: called on the session's queue with the answer (which begins with its length, as on a phone),
    ///     or with an ``NFCReaderError``.
    @preconcurrency
    public func sendFeliCaCommand(
        commandPacket: Data,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        sendFeliCaCommand(commandPacket: commandPacket) { data, error in
            handler.call(data, error)
        }
    }
}
