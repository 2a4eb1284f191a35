import java.io.File;
import java.util.EnumSet;
import shark.*;

/** Prints the records that Shark's streaming reader gives. */
class ShowSharkStream {
    static String name(String name) { // in ASCII
        StringBuilder shown = new StringBuilder();
        name.chars().forEach(c -> shown.append(c > 31 && c < 127 ? String.valueOf((char) c) : String.format("\\u%04x", c)));
        return shown.toString();
    }

    public static void main(String[] arguments) throws Exception {
        File dump = new File(arguments[0]);
        HprofHeader header = HprofHeader.Companion.parseHeaderOf(dump);
        StreamingHprofReader.Companion.readerFor(dump, header).readRecords(EnumSet.allOf(HprofRecordTag.class),
                (tag, length, reader) -> {
                    Object record = "";
                    switch (tag) {
                        case STRING_IN_UTF8:
                            record = name(reader.readStringRecord(length).getString());
                            break;
                        case LOAD_CLASS:
                            record = reader.readLoadClassRecord().getId();
                            break;
                        case STACK_FRAME:
                            record = reader.readStackFrameRecord().getId();
                            break;
                        case STACK_TRACE:
                            record = reader.readStackTraceRecord().getStackFrameIds().length + " frames";
                            break;
                        case CLASS_DUMP:
                            record = reader.readClassDumpRecord().getId();
                            break;
                        case INSTANCE_DUMP:
                            record = reader.readInstanceDumpRecord().getId();
                            break;
                        case OBJECT_ARRAY_DUMP:
                            record = reader.readObjectArrayDumpRecord().getElementIds().length + " elements";
                            break;
                        case PRIMITIVE_ARRAY_DUMP: {
                            HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord array = reader.readPrimitiveArrayDumpRecord();
                            record = array.getSize() + " elements";
                            if (array instanceof HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.CharArrayDump) {
                                record = name(new String(
                                        ((HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.CharArrayDump) array).getArray()));
                            }
                            break;
                        }
                        case ROOT_JAVA_FRAME:
                            record = reader.readJavaFrameGcRootRecord().getId();
                            break;
                        case ROOT_JNI_GLOBAL:
                            record = reader.readJniGlobalGcRootRecord().getId();
                            break;
                        case ROOT_JNI_LOCAL:
                            record = reader.readJniLocalGcRootRecord().getId();
                            break;
                        case ROOT_STICKY_CLASS:
                            record = reader.readStickyClassGcRootRecord().getId();
                            break;
                        case ROOT_THREAD_OBJECT:
                            record = reader.readThreadObjectGcRootRecord().getId();
                            break;
                        case ROOT_UNKNOWN:
                            record = reader.readUnknownGcRootRecord().getId();
                            break;
                        case ROOT_THREAD_BLOCK:
                            record = reader.readThreadBlockGcRootRecord().getId();
                            break;
                        case ROOT_MONITOR_USED:
                            record = reader.readMonitorUsedGcRootRecord().getId();
                            break;
                        case ROOT_INTERNED_STRING:
                            record = reader.readInternedStringGcRootRecord().getId();
                            break;
                        case ROOT_FINALIZING:
                            record = reader.readFinalizingGcRootRecord().getId();
                            break;
                        case ROOT_DEBUGGER:
                            record = reader.readDebuggerGcRootRecord().getId();
                            break;
                        case ROOT_REFERENCE_CLEANUP:
                            record = reader.readReferenceCleanupGcRootRecord().getId();
                            break;
                        case ROOT_VM_INTERNAL:
                            record = reader.readVmInternalGcRootRecord().getId();
                            break;
                        case ROOT_JNI_MONITOR:
                            record = reader.readJniMonitorGcRootRecord().getId();
                            break;
                        case ROOT_UNREACHABLE:
                            record = reader.readUnreachableGcRootRecord().getId();
                            break;
                        case ROOT_NATIVE_STACK:
                            record = reader.readNativeStackGcRootRecord().getId();
                            break;
                        case HEAP_DUMP_INFO:
                            record = reader.readHeapDumpInfoRecord().getHeapId();
                            break;
                        default:
                            reader.skip(length);
                    }
                    System.out.println(tag + " " + record);
                });
    }
}
