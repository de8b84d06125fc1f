import { crc32, deflateRawSync } from 'node:zlib';

/** A file of a zip. Everything that a header can say may be made a lie. */
export interface ZipEntry {
  readonly name: string | Buffer;
  readonly data?: string | Buffer;
  readonly deflated?: boolean;
  readonly method?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly packedSize?: number;
  readonly flags?: number;
  /** Unix file mode, type included. */
  readonly mode?: number;
  /** Writes the sizes the zip64 way. */
  readonly zip64?: boolean;
}

const UTF8 = 0x800;
const MAX32 = 0xffffffff;

/** Builds a zip by hand. `count` is what it says about the number of its entries. */
export function buildZip(entries: readonly ZipEntry[], { count = entries.length } = {}): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? '');
    const packed = entry.deflated ? deflateRawSync(data) : data;
    const name = Buffer.from(entry.name);
    const size = entry.size ?? data.length;
    const packedSize = entry.packedSize ?? packed.length;
    const extra = entry.zip64 ? zip64Extra(size, packedSize) : Buffer.alloc(0);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(entry.flags ?? UTF8, 2);
    common.writeUInt16LE(entry.method ?? (entry.deflated ? 8 : 0), 4);
    common.writeUInt32LE(entry.crc ?? crc32(data), 10);
    common.writeUInt32LE(entry.zip64 ? MAX32 : packedSize, 14);
    common.writeUInt32LE(entry.zip64 ? MAX32 : size, 18);
    common.writeUInt16LE(name.length, 22);
    common.writeUInt16LE(extra.length, 24);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, extra, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, rest, name, extra);
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}

function zip64Extra(size: number, packedSize: number): Buffer {
  const extra = Buffer.alloc(20);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(16, 2);
  extra.writeBigUInt64LE(BigInt(size), 4);
  extra.writeBigUInt64LE(BigInt(packedSize), 12);
  return extra;
}
